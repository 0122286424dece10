import { expect, test } from "vitest";
import { paceOf, sampled, type Sample } from "./pace";

const after = (...samples: [at: number, done: number][]): Sample[] => samples.reduce<Sample[]>((all, [at, done]) => sampled(all, { at, done }), []);

test("the rate of the last 15 s, not that of the whole time", () => {
  const samples = after([0, 0], [5000, 5000], [10_000, 5010], [20_000, 5020], [25_000, 5040]);
  // 10 s (within the span of 25 s) to 25 s: 30 in 15 s.
  expect(paceOf(samples, 25_000)).toBe(2);
});

test("nothing happens, and the rate falls", () => {
  const samples = after([0, 0], [10_000, 100]);
  expect(paceOf(samples, 10_000)).toBe(10);
  expect(paceOf(samples, 20_000)).toBe(5);
});

test("one sample, or two at once, say nothing", () => {
  expect(paceOf([], 0)).toBeUndefined();
  expect(paceOf(after([0, 5]), 99)).toBeUndefined();
  expect(paceOf(after([0, 5], [500, 6]), 500)).toBeUndefined();
  expect(after([0, 5], [0, 6])).toHaveLength(1);
});

test("a rerun begins anew", () => {
  expect(after([0, 500], [1000, 900], [2000, 3])).toEqual([{ at: 2000, done: 3 }]);
});
