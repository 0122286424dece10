import { expect, it } from "vitest";
import { aRun } from "./fixture";
import { matches } from "./matches";

const now = new Date("2026-11-29T12:00:00Z");
const run = aRun({ flow: "recon", queue: "nightly", level: "P1", trigger: "api", state: "running", version: "ab12cd", tags: { team: "etl" }, created_at: "2026-11-29T11:00:00Z" });

it("holds a run against every term", () => {
  expect(matches("", run, now)).toBe("yes");
  expect(matches("flow:other,recon state:open level:p1 queue:nightly trigger:api tag:team=etl version:AB12 since:2h", run, now)).toBe("yes");
  for (const q of ["flow:other", "state:ended", "state:failed", "level:P2", "queue:default", "tag:team=x", "tag:none=1", "version:ff00", "parent:01937f2e-5b7e-7cc3-98c4-dc0c0c07398f", "since:30m", "until:2h", "trigger:cli", "nonsense:x"])
    expect([q, matches(q, run, now)]).toEqual([q, "no"]);
});

it("does not know about params, but about the rest", () => {
  expect(matches("flow:recon param.date:2026-11-29", run, now)).toBe("maybe");
  expect(matches("flow:other param.date:2026-11-29", run, now)).toBe("no");
});

it("knows ids and their beginnings", () => {
  expect(matches(run.id.slice(0, 10), run, now)).toBe("yes");
  expect(matches("ffff", run, now)).toBe("no");
});
