import { expect, test } from "vitest";
import type { Schemas } from "../client";
import { streamQuery } from "./connection";
import { merge, outgrows } from "./merge";

const stage = (name: string): Schemas["StageStatus"] => ({ name, kind: "single", state: "running", generation: 0, total: 1, succeeded: 0, ready: 0, in_flight: 1, dead: 0, parked: 0 });
const detail: Schemas["RunDetail"] = {
  run: { id: "r", flow: "f", version: "v", state: "running", level: "P2", queue: "default", trigger: "api", created_at: "2026-01-01T00:00:00Z" },
  at: "2026-01-01T00:00:01Z",
  stages: [stage("a"), stage("b")],
  holds: [],
};

test("a delta changes only the stage that it names, and twice is once", () => {
  const delta = { id: "r", stages: { b: { succeeded: 1, in_flight: 0 } } };
  const once = merge(detail, delta);
  expect(once.stages[0]).toBe(detail.stages[0]);
  expect(once.run).toBe(detail.run);
  expect(once.stages[1]).toEqual({ ...stage("b"), succeeded: 1, in_flight: 0 });
  expect(merge(once, delta)).toEqual(once);
});

test("a run's end arrives", () => {
  const end = { id: "r", state: "failed" as const, finished_at: "2026-01-01T00:00:02Z" };
  expect(merge(detail, end).run).toEqual({ ...detail.run, state: "failed", finished_at: "2026-01-01T00:00:02Z" });
});

test("another generation or an unknown stage asks for a new reading", () => {
  expect(outgrows(detail, { id: "r", stages: { b: { generation: 0 } } })).toBe(false);
  expect(outgrows(detail, { id: "r", stages: { b: { generation: 1 } } })).toBe(true);
  expect(outgrows(detail, { id: "r", stages: { c: {} } })).toBe(true);
});

test("one stream covers all topics", () => {
  expect(streamQuery([])).toBe("");
  expect(streamQuery([{ run: "b" }, { run: "a" }, { run: "b" }])).toBe("?run=a&run=b");
  expect(streamQuery([{ flow: "x" }, { run: "a" }])).toBe("?run=a&flow=x");
});
