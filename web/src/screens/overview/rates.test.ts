import { expect, test } from "vitest";
import { quiet, rates } from "./rates";

test("counts become rates, and the step that goes on is left out", () => {
  const got = rates({ started: [60, 120, 7], succeeded: [30, 60, 1], failed: [0, 6, 0] }, "2026-11-29T11:01:00Z", 60);
  expect(got).toEqual({ times: [1795950060, 1795950120], started: [1, 2], succeeded: [0.5, 1], failed: [0, 0.1] });
});

test("a series that is too short has zeros, an empty one has no times", () => {
  expect(rates({ started: [1, 1, 1], succeeded: [1], failed: [] }, "2026-11-29T11:01:00Z", 1).succeeded).toEqual([1, 0]);
  expect(rates({ started: [], succeeded: [], failed: [] }, "2026-11-29T11:01:00Z", 60).times).toEqual([]);
});

test("quiet is when nothing was counted anywhere", () => {
  const none = { started: [0, 0], succeeded: [0, 0], failed: [0, 0] };
  expect(quiet(none, none)).toBe(true);
  expect(quiet(none, { ...none, failed: [0, 1] })).toBe(false);
});
