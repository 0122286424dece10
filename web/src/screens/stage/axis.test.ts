import { expect, test } from "vitest";
import { shareOf, ticks } from "./axis";

test("a decade is as wide as the next one", () => {
  expect(shareOf(10, 10, 1000)).toBe(0);
  expect(shareOf(100, 10, 1000)).toBeCloseTo(0.5);
  expect(shareOf(1000, 10, 1000)).toBe(1);
  expect(shareOf(1, 10, 1000)).toBe(0);
  expect(shareOf(9e9, 10, 1000)).toBe(1);
  expect(shareOf(5, 5, 5)).toBe(0);
});

test("labels are round and few", () => {
  expect(ticks(7, 40_000, 10)).toEqual([10, 30, 100, 300, 1000, 3000, 10_000, 30_000]);
  expect(ticks(7, 40_000, 4)).toEqual([10, 100, 1000, 10_000]);
  expect(ticks(40, 80, 5)).toEqual([]);
});
