import { expect, test } from "vitest";
import type { Part } from "../criticalpath";
import type { Row } from "./rows";
import { barWords, densityAt, partSentences, partWords, rowWords, shardWords, tookWords } from "./words";

const row = (more: Partial<Row> & { part?: Part } = {}): Row => ({
  name: "load",
  status: { name: "load", kind: "single", state: "succeeded", generation: 1, total: 1, succeeded: 1, ready: 0, in_flight: 0, dead: 0, parked: 0 },
  bars: [],
  partial: false,
  ready: 0,
  end: 245_000,
  ...more,
});

test("what a stage added, or its slack", () => {
  const critical = row({ part: { critical: true, slack: 0, added: 840_000, after: "extract", expected: false } });
  expect(partWords(critical)).toBe("added 14m 00s");
  expect(partSentences(critical)).toEqual(["On the critical path: it ended 14m 00s after extract had ended, and that is what it added to the run."]);
  const beside = row({ part: { critical: false, slack: 240_000, added: 1, expected: false } });
  expect(partWords(beside)).toBe("slack 4m 00s");
  expect(partSentences(beside)).toEqual(["It could have ended 4m 00s later without delaying the run."]);
  expect(partWords(row())).toBe("");
});

test("a skipped stage neither adds nor has slack", () => {
  const r = row({ part: { critical: false, slack: 5000, added: 0, expected: false } });
  expect(partWords({ ...r, status: { ...r.status, state: "skipped" } })).toBe("");
});

test("bars", () => {
  expect(barWords({ phase: "running", from: 0, to: 1, attempt: 1, outcome: "succeeded" })).toBe("running");
  expect(barWords({ phase: "running", from: 0, to: 1, attempt: 1, outcome: "timed_out" })).toBe("running, attempt 1: timed out");
  expect(barWords({ phase: "running", from: 0, to: 1, attempt: 3, outcome: "succeeded" })).toBe("running, attempt 3");
  expect(barWords({ phase: "backing off", from: 0, to: 1 })).toBe("backing off");
});

test("shards, times and the whole row", () => {
  const sharded = row({ usual: 130_000 });
  sharded.status = { ...sharded.status, kind: "sharded", state: "failed", total: 2000, succeeded: 1997, dead: 3 };
  expect(shardWords(sharded)).toBe("1,997 of 2,000 shards succeeded, 3 dead");
  expect(tookWords(sharded, 0)).toBe("took 4m 05s, usually 2m 10s");
  expect(rowWords(sharded, 0)).toBe("took 4m 05s, usually 2m 10s, 1,997 of 2,000 shards succeeded, 3 dead");
  const { end: _, ...open } = row();
  expect(tookWords(open, 3000)).toBe("has taken 3.0s");
});

test("density at a time", () => {
  const r = row({ density: { from: 1000, step: 500, running: [4, 8], failed: [0, 2], peak: 8 } });
  expect(densityAt(r, 1600)).toEqual({ running: 8, failed: 2 });
  expect(densityAt(r, 999)).toBeUndefined();
  expect(densityAt(r, 2000)).toBeUndefined();
});
