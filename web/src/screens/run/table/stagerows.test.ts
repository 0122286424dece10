import { expect, test } from "vitest";
import type { Schemas } from "../../../api/client";
import { filterRows, nextSort, parseSort, retriesOf, sortRows, stageRows, tally, type StageRow } from "./stagerows";

const t = (s: number): string => new Date(s * 1000).toISOString();
const status = (name: string, more: Partial<Schemas["StageStatus"]> = {}): Schemas["StageStatus"] => ({ name, kind: "single", state: "succeeded", generation: 1, total: 1, succeeded: 1, ready: 0, in_flight: 0, dead: 0, parked: 0, ...more });
const graph = (name: string, more: Partial<Schemas["GraphStage"]> = {}): Schemas["GraphStage"] => ({ name, kind: "single", upstreams: [], rule: "all_success", retry: { max_attempts: 3 }, timeout: {}, ...more });

const stages = [
  status("extract", { ready_at: t(0), finished_at: t(10) }),
  status("load", { kind: "sharded", state: "running", total: 100, succeeded: 40, dead: 2, in_flight: 8, ready: 50, ready_at: t(10) }),
  status("check", { state: "failed", succeeded: 0, dead: 1, ready_at: t(10), finished_at: t(12) }),
  status("report", { state: "waiting", succeeded: 0 }),
];
const rows = stageRows({
  detail: { run: { id: "r", flow: "f", version: "v", state: "running", level: "P2", queue: "q", trigger: "api", created_at: t(0) }, at: t(0), stages, holds: [] },
  flow: { name: "f", version: "v", newest: true, paused: false, graph: { stages: [graph("extract"), graph("load", { upstreams: ["extract"] }), graph("check", { rule: "all_done" }), graph("report", { teardown_of: "extract" })] } },
  rates: new Map([["load", 4]]),
  parts: new Map([["extract", { critical: true, slack: 0, added: 10_000, expected: false }], ["check", { critical: false, slack: 8000, added: 2000, expected: false }]]),
  now: 60_000,
});
const names = (list: readonly StageRow[]): string => list.map((r) => r.name).join(" ");

test("rows tell times and rates", () => {
  expect(rows.map((r) => [r.name, r.rule, r.took, r.rate])).toEqual([
    ["extract", "all_success", 10_000, 0.1],
    ["load", "all_success", 50_000, 4],
    ["check", "all_done", 2000, 0.5],
    ["report", "teardown of extract", undefined, undefined],
  ]);
});

test.each([
  [undefined, "extract load check report"],
  ["stage", "check extract load report"],
  ["-took", "load extract check report"],
  ["took", "check extract load report"],
  ["-dead", "load check extract report"],
  ["state", "check load report extract"],
  ["-part", "extract check load report"],
  ["nonsense", "extract load check report"],
  ["-", "extract load check report"],
])("sorted by %s: %s", (text, want) => expect(names(sortRows(rows, parseSort(text)))).toBe(want));

test("a head is clicked three times", () => {
  expect(nextSort(undefined, "took")).toBe("-took");
  expect(nextSort({ by: "took", desc: true }, "took")).toBe("took");
  expect(nextSort({ by: "took", desc: false }, "took")).toBeUndefined();
  expect(nextSort({ by: "took", desc: false }, "stage")).toBe("stage");
  expect(nextSort({ by: "stage", desc: false }, "stage")).toBe("-stage");
});

test("filters", () => {
  expect(names(filterRows(rows, " EX ", []))).toBe("extract");
  expect(names(filterRows(rows, "", ["failed", "waiting"]))).toBe("check report");
  expect(names(filterRows(rows, "zzz", []))).toBe("");
  expect(filterRows(rows, "", [])).toBe(rows);
});

test("tally", () => expect(tally(rows).map((x) => `${x.state} ${x.count}`)).toEqual(["failed 1", "running 1", "waiting 1", "succeeded 1"]));

test("retries", () => {
  const line: Schemas["StageTimeline"] = { name: "load", state: "running", generation: 1, waiting_from: t(0) };
  const load = stages[1] ?? status("load");
  expect(retriesOf({ ...line, density: { from: t(0), step_s: 1, running: [1, 1], finished: [9, 9], failed: [3, 4] } }, load)).toBe(5);
  expect(retriesOf({ ...line, attempts: [{ attempt: 3, delivery: 1, ready_at: t(0), started_at: t(0) }] }, status("x"))).toBe(2);
  expect(retriesOf({ ...line, generation: 2 }, load)).toBeUndefined();
  expect(retriesOf(undefined, load)).toBeUndefined();
});
