import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { beatAge, conditionOf, handlersOf, matches, slotsOf } from "./figures";

const now = Date.parse("2026-11-29T12:00:10Z");
const worker: Schemas["Worker"] = {
  id: "01a229c1-0679-759a-90d6-36987bf5cf43", host: "etl-3", pid: 4711, state: "active", started_at: "2026-11-29T10:00:00Z", seen_at: "2026-11-29T12:00:08Z",
  cpu: 0.5, memory: 0.25, urgent: 2, labels: ["gpu", "zone=b"], handlers: { "daily/report@c3": 1, "daily/clean@b2": 8, "daily/clean@a1": 4 }, flights: 3, tasks: 12,
};

test("a worker is silent after more than 6 s, whatever it said last", () => {
  expect(beatAge(worker, now)).toBe(2);
  expect(conditionOf(worker, now)).toBe("active");
  expect(conditionOf({ ...worker, state: "draining" }, now)).toBe("draining");
  expect(conditionOf(worker, now + 4000)).toBe("active");
  expect(conditionOf({ ...worker, state: "draining" }, now + 4001)).toBe("silent");
});

test("a heartbeat from the future is no age", () => expect(beatAge(worker, now - 60_000)).toBe(0));

test("handlers are by flow, stage and version", () => {
  expect(handlersOf(worker)).toEqual([
    { flow: "daily", stage: "clean", version: "a1", slots: 4 },
    { flow: "daily", stage: "clean", version: "b2", slots: 8 },
    { flow: "daily", stage: "report", version: "c3", slots: 1 },
  ]);
  expect(slotsOf(worker)).toBe(13);
  expect(slotsOf({ handlers: {} })).toBe(0);
});

test.each([["", true], ["ETL-3", true], ["4711", true], ["gpu clean", true], ["active", true], ["silent", false], ["draining", false], ["gpu other", false]])("the search %j finds it: %s", (search, want) =>
  expect(matches(worker, search, now)).toBe(want),
);
