import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { depthTone, matches, percent, pressureOf } from "./figures";

const q: Schemas["Queue"] = {
  name: "nightly-etl", configured: true, capacity: 1000, concurrency: 0, alert_at: 0.6, refuse_at: 0.8, pause_at: 0.95, resume_at: 0.4, core_level: "P1", low_level: "P3", version: 1,
  ready: 0, running: 0, in_flight: 0, oldest_s: 0, depth: 0, pressure: "normal",
};

test.each([
  ["", true], ["etl", true], ["NIGHT  etl", true], ["other", false], ["limited", true], ["paused", false], ["etl pressure", false],
])("the search %j finds the queue: %s", (search, want) => expect(matches(q, search)).toBe(want));

test("a held queue is found as paused", () => {
  expect(matches({ ...q, hold: { kind: "queue", name: q.name, actor: "a", held_at: "2026-11-29T11:00:00Z" } }, "paused")).toBe(true);
});

test("pressure is what the settings make of it", () => {
  expect(pressureOf({ ...q, capacity: 0 })).toBeUndefined();
  expect(pressureOf(q)?.says).toBe("The depth is below 60 % of the capacity");
  expect(pressureOf({ ...q, pressure: "refuse" })).toEqual({ tone: "failed", word: "refusing", says: "Starts of levels below P1 are refused" });
  expect(pressureOf({ ...q, pressure: "pause", resume_at: 0.333 })?.says).toContain("below 33.3 %");
});

test.each([[0, "plain"], [599, "plain"], [600, "warn"], [799, "warn"], [800, "bad"], [5000, "bad"]] as const)("a depth of %d of 1000 is %s", (depth, tone) => expect(depthTone({ ...q, depth })).toBe(tone));

test("percentages keep one digit at most", () => {
  expect(percent(0.3333)).toBe("33.3 %");
  expect(percent(1)).toBe("100 %");
});
