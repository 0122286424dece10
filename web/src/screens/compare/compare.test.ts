import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { changes, pairs, tookOf, type Side } from "./compare";
import { longer, reasons, sentence, summary, times } from "./words";

const t = (s: number): string => new Date(s * 1000).toISOString();
const status = (name: string, ready: number | undefined, end: number | undefined, more: Partial<Schemas["StageStatus"]> = {}): Schemas["StageStatus"] => ({
  name, kind: "sharded", state: "succeeded", generation: 1, total: 10, succeeded: 10, ready: 0, in_flight: 0, dead: 0, parked: 0,
  ...(ready === undefined ? {} : { ready_at: t(ready) }), ...(end === undefined ? {} : { finished_at: t(end) }), ...more,
});
const side = (stages: Schemas["StageStatus"][], end: number, timeline: Partial<Schemas["StageTimeline"]>[] = []): Side => ({
  detail: { run: { id: "r", flow: "f", version: "v", state: "succeeded", level: "P2", queue: "q", trigger: "api", created_at: t(0), finished_at: t(end) }, at: t(end), stages, holds: [] },
  timeline: { run: "r", at: t(end), from: t(0), stages: timeline.map((l) => ({ name: "load", state: "succeeded" as const, generation: 1, waiting_from: t(0), ...l })) },
});

const before = side([status("extract", 0, 10), status("load", 10, 70, { total: 1200, succeeded: 1200 }), status("old", 70, 71)], 75, [{ started_at: t(11), density: { from: t(11), step_s: 1, running: [1], finished: [3], failed: [1] } }]);
const after = side([status("extract", 0, 11), status("load", 11, 911, { total: 2000, succeeded: 1998, dead: 2, state: "failed" }), status("report", undefined, 911, { state: "upstream_failed" })], 915, [
  { started_at: t(15), density: { from: t(15), step_s: 1, running: [1], finished: [3], failed: [5] } },
]);

test("what differs most stands first", () => {
  expect(pairs(before, after).map((p) => [p.name, p.difference])).toEqual([["load", 840_000], ["extract", 1000], ["report", undefined], ["old", undefined]]);
  expect(tookOf(after.detail)).toBe(915_000);
});

const pace = { before: { samples: 10, p95_s: 2 }, after: { samples: 10, p95_s: 6.4 } };

test("a stage in a sentence", () => {
  const [load, extract, report, old] = pairs(before, after);
  expect(load && sentence(load, pace)).toBe("load took 14m 00s longer: failed, not succeeded, 2,000 shards against 1,200, p95 3.2× as long (6.4s against 2.0s), queued 3.0s longer, 5 failed attempts against 1, 2 dead against 0.");
  expect(extract && sentence(extract)).toBe("extract took 1.0s longer.");
  expect(report && sentence(report)).toBe("report is new: the other run has no such stage.");
  expect(old && sentence(old)).toBe("old is gone: only the other run has it.");
});

test("a stage that did not run took no time that could be compared", () => {
  const skipped = side([status("load", 5, 5, { state: "upstream_failed" })], 9);
  const pair = pairs(before, skipped).find((p) => p.name === "load");
  expect(pair?.difference).toBeUndefined();
  expect(pair && sentence(pair)).toMatch(/^load did not run; it took 1m 00s in the other: upstream failed, not succeeded, /);
});

test("the whole in two sentences", () => {
  const list = pairs(before, after);
  expect(summary(75_000, 915_000, list, new Map())).toMatch(/^It took 15m 15s, 14m 00s longer than the other \(1m 15s\)\. load took 14m 00s longer: /);
  expect(summary(75_000, 75_050, [], new Map())).toBe("Both took about 1m 15s.");
  // What went the other way is not what contributed.
  const [load] = list;
  expect(load && summary(80_000, 20_000, [load], new Map())).toBe("It took 20s, 1m 00s less than the other (1m 20s).");
});

test("a run against itself differs in nothing", () => {
  const list = pairs(after, after);
  expect(list.every((p) => (p.difference ?? 0) === 0 && reasons(p).length === 0)).toBe(true);
});

test.each([
  [1000, 1050, "as long"], [100_000, 100_900, "as long"], [1000, 1200, "0.2s longer"], [100_000, 40_000, "1m 00s shorter"], [0, 90, "as long"],
])("%d ms against %d ms is %s", (a, b, want) => expect(longer(a, b)).toBe(want));

test("times", () => expect([times(2, 6.4), times(1, 12.4), times(4, 1)]).toEqual(["3.2×", "12×", "0.3×"]));

test("what of a declaration differs", () => {
  const g: Schemas["GraphStage"] = { name: "x", kind: "single", upstreams: ["a", "b"], rule: "all_success", retry: { max_attempts: 3 }, timeout: { execution_s: 60 } };
  expect(changes(g, g)).toEqual([]);
  expect(changes(g, { ...g, upstreams: ["b", "c"], rule: "all_done", limit: 5, retry: { max_attempts: 5 }, timeout: {} })).toEqual(["waits for c too", "no longer waits for a", "trigger rule all_success → all_done", "limit none → 5", "attempts 3 → 5", "execution time-out 60s → none"]);
});
