import { expect, test } from "vitest";
import type { Schemas } from "../../../api/client";
import { rows, sorted } from "./rows";

const t = (seconds: number): string => new Date(seconds * 1000).toISOString();
const status = (name: string, more: Partial<Schemas["StageStatus"]>): Schemas["StageStatus"] => ({ name, kind: "single", state: "running", generation: 1, total: 1, succeeded: 0, ready: 0, in_flight: 0, dead: 0, parked: 0, ...more });
const detail = (stages: Schemas["StageStatus"][], finished?: number): Schemas["RunDetail"] => ({
  run: { id: "r", flow: "f", version: "v", state: finished ? "succeeded" : "running", level: "P2", queue: "default", trigger: "api", created_at: t(0), ...(finished ? { finished_at: t(finished) } : {}) },
  at: t(0),
  stages,
  holds: [],
});
const timeline = (stages: Schemas["StageTimeline"][]): Schemas["Timeline"] => ({ run: "r", at: t(0), from: t(0), stages });
const bars = (d: Schemas["RunDetail"], l?: Schemas["Timeline"], now = 100) =>
  rows({ detail: d, timeline: l, parts: new Map(), now: now * 1000 })[0]?.bars.map((b) => [b.phase, b.from / 1000, b.to / 1000, ...(b.open ? ["open"] : []), ...(b.outcome ? [b.outcome] : [])]);

test("without a timeline a stage waits and runs", () => {
  expect(bars(detail([status("a", { state: "succeeded", succeeded: 1, ready_at: t(5), finished_at: t(9) })], 9))).toEqual([["waiting", 0, 5], ["running", 5, 9]]);
  expect(bars(detail([status("a", { in_flight: 1, ready_at: t(0) })]))).toEqual([["running", 0, 100, "open"]]);
  expect(bars(detail([status("a", { ready: 1, ready_at: t(5) })]))).toEqual([["waiting", 0, 5], ["queued", 5, 100, "open"]]);
  expect(bars(detail([status("a", { state: "waiting" })]))).toEqual([["waiting", 0, 100, "open"]]);
});

test("a timeline that has no attempts of a stage says no more than its status", () => {
  const l = timeline([{ name: "a", state: "succeeded", generation: 1, waiting_from: t(0), ready_at: t(5), finished_at: t(9) }]);
  expect(bars(detail([status("a", { state: "succeeded", succeeded: 1, ready_at: t(5), finished_at: t(9) })], 9), l)).toEqual([["waiting", 0, 5], ["running", 5, 9]]);
});

test("a stage that was skipped waited until then", () => {
  expect(bars(detail([status("a", { state: "skipped", finished_at: t(7) })], 20))).toEqual([["waiting", 0, 7]]);
});

test("attempts are queued, run and back off", () => {
  const l = timeline([
    {
      name: "a", state: "running", generation: 1, waiting_from: t(0), ready_at: t(2), started_at: t(3),
      attempts: [
        { attempt: 1, delivery: 1, ready_at: t(2), started_at: t(3), finished_at: t(5), outcome: "failed" },
        { attempt: 2, delivery: 1, ready_at: t(15), started_at: t(16) },
      ],
      backing_off: [{ from: t(5), until: t(15) }],
    },
  ]);
  expect(bars(detail([status("a", { in_flight: 1, ready_at: t(2) })]), l, 20)).toEqual([
    ["waiting", 0, 2], ["queued", 2, 3], ["running", 3, 5, "failed"], ["backing off", 5, 15], ["queued", 15, 16], ["running", 16, 20, "open"],
  ]);
});

test("a sharded stage plans first", () => {
  const line: Schemas["StageTimeline"] = {
    name: "a", state: "running", generation: 1, waiting_from: t(0), ready_at: t(0), started_at: t(6),
    plan: { attempt: 1, delivery: 1, ready_at: t(0), started_at: t(1), finished_at: t(4), outcome: "succeeded" },
    density: { from: t(6), step_s: 2, running: [3, 8, 5], finished: [0, 2, 3], failed: [0, 1, 0] },
  };
  const d = detail([status("a", { kind: "sharded", total: 10, in_flight: 5, succeeded: 5, ready_at: t(0) })]);
  expect(bars(d, timeline([line]), 12)).toEqual([["queued", 0, 1], ["planning", 1, 4, "succeeded"], ["queued", 4, 6], ["running", 6, 12, "open"]]);
  const [row] = rows({ detail: d, timeline: timeline([line]), parts: new Map(), now: 12_000 });
  expect(row?.density).toEqual({ from: 6000, step: 2000, running: [3, 8, 5], failed: [0, 1, 0], peak: 8 });
});

test("a timeline of an earlier generation tells nothing", () => {
  const l = timeline([{ name: "a", state: "succeeded", generation: 1, waiting_from: t(0), ready_at: t(0), finished_at: t(9), attempts: [] }]);
  expect(bars(detail([status("a", { generation: 2, ready: 1, ready_at: t(50) })]), l)).toEqual([["waiting", 0, 50], ["queued", 50, 100, "open"]]);
});

test("orders", () => {
  const list = rows({
    detail: detail([status("x", { state: "waiting" }), status("c", { ready_at: t(9), finished_at: t(10), succeeded: 1 }), status("b", { ready_at: t(2), finished_at: t(8), succeeded: 1 }), status("a", { ready_at: t(2), finished_at: t(3), succeeded: 1 })]),
    parts: new Map(),
    now: 20_000,
  });
  const names = (order: "graph" | "start" | "duration") => sorted(list, order, 20_000).map((r) => r.name).join("");
  expect(names("graph")).toBe("xcba");
  expect(names("start")).toBe("bacx");
  expect(names("duration")).toBe("bcax");
});
