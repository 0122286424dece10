import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { bodyOf, draftOf, errorOf, fault } from "./config";

const plain: Schemas["Queue"] = {
  name: "etl", configured: false, capacity: 0, concurrency: 0, alert_at: 0.6, refuse_at: 0.8, pause_at: 0.95, resume_at: 0.4, core_level: "P1", low_level: "P3", version: 0,
  ready: 0, running: 0, in_flight: 0, oldest_s: 0, depth: 0, pressure: "normal",
};

test("a queue as by default sends nothing", () => {
  expect(bodyOf(draftOf(plain), 0)).toEqual({});
});

test("what was decided is sent back unchanged, with the version that was read", () => {
  const q: Schemas["Queue"] = { ...plain, configured: true, version: 7, capacity: 100_000, concurrency: 40, alert_at: 0.55, resume_at: 0.333, core_level: "P0", weights: [60, 20, 10, 5, 3, 2], decay: 0.05 };
  expect(bodyOf(draftOf(q), q.version)).toEqual({ capacity: 100_000, concurrency: 40, alert_at: 0.55, resume_at: 0.333, core_level: "P0", weights: [60, 20, 10, 5, 3, 2], decay: 0.05, version: 7 });
});

test("shares are percent in the form", () => {
  expect(draftOf({ ...plain, alert_at: 0.55 }).alert).toBe(55);
  expect(bodyOf({ ...draftOf(plain), pause: 99.5 }, 0)).toEqual({ pause_at: 0.995 });
});

test("some weights are none", () => {
  const draft = { ...draftOf(plain), weights: [40, undefined, 15, 10, 6, 4] };
  expect(fault(draft)).toBe("Give all six weights, or none.");
  expect(fault(draftOf(plain))).toBeUndefined();
});

test("an error of one weight stands at the weights", () => {
  const errors = new Map([["/weights/3", "it is 0"], ["/capacity", "too much"]]);
  expect(errorOf(errors, "weights")).toBe("it is 0");
  expect(errorOf(errors, "capacity")).toBe("too much");
  expect(errorOf(errors, "decay")).toBeUndefined();
});
