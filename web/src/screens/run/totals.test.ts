import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { stamp, totalsOf } from "./totals";

const stage = (more: Partial<Schemas["StageStatus"]>): Schemas["StageStatus"] => ({ name: "s", kind: "single", state: "running", generation: 1, total: 1, succeeded: 0, ready: 0, in_flight: 0, dead: 0, parked: 0, ...more });

test("stages are added up", () => {
  const t = totalsOf([
    stage({ state: "succeeded", succeeded: 1 }),
    stage({ kind: "sharded", total: 2000, succeeded: 406, in_flight: 32, ready: 1561, dead: 1 }),
    stage({ state: "waiting", total: -1 }),
    stage({ kind: "sharded", state: "waiting", total: -1 }),
    stage({ kind: "sharded", state: "upstream_failed", total: -1 }),
  ]);
  expect(t).toMatchObject({ done: 407, total: 2002, dead: 1, decided: 2, stages: 5, unknown: 1 });
  expect(Object.fromEntries(t.parts.map((p) => [p.tone, p.count]))).toEqual({ succeeded: 407, running: 32, queued: 1561, failed: 1, waiting: 1 });
  expect(t.parts.reduce((n, p) => n + p.count, 0)).toBe(t.total);
});

test("nothing is nothing", () => expect(totalsOf([])).toEqual({ parts: [], done: 0, total: 0, dead: 0, decided: 0, stages: 0, unknown: 0 }));

test("a stamp changes with states and failures, not with progress", () => {
  const run: Schemas["Run"] = { id: "r", flow: "f", version: "v", state: "running", level: "P2", queue: "default", trigger: "api", created_at: "2026-11-30T00:00:00Z" };
  const at = (more: Partial<Schemas["StageStatus"]>, r: Partial<Schemas["Run"]> = {}) => stamp({ run: { ...run, ...r }, stages: [stage(more)] });
  expect(at({ succeeded: 5 })).toBe(at({ succeeded: 6 }));
  expect(at({ dead: 1 })).not.toBe(at({}));
  expect(at({ state: "failed" })).not.toBe(at({}));
  expect(at({ generation: 2 })).not.toBe(at({}));
  expect(at({}, { paused: true })).not.toBe(at({}));
});
