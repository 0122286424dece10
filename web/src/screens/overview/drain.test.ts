import { expect, test } from "vitest";
import { drainByLevel, drainWords } from "./drain";

test("one level alone takes its depth by the rate", () => {
  expect(drainByLevel([{ level: "P3", depth: 600 }], 20)).toEqual(new Map([["P3", 30]]));
});

test("levels share the rate by weight, and the rest goes on alone", () => {
  // P0 and P1 share 65 a second as 40 to 25: P0's 400 take 10 s. P1 has 500 - 250 left then, which take 250/65 s more.
  const got = drainByLevel([{ level: "P0", depth: 400 }, { level: "P1", depth: 500 }], 65);
  expect(got.get("P0")).toBeCloseTo(10, 9);
  expect(got.get("P1")).toBeCloseTo(10 + 250 / 65, 9);
});

test("the last level ends when all is done, whatever the shares", () => {
  const cells = [{ level: "P0" as const, depth: 1 }, { level: "P2" as const, depth: 99_999 }, { level: "P5" as const, depth: 50_000 }];
  expect(Math.max(...drainByLevel(cells, 300).values())).toBeCloseTo(500, 6);
});

test("without a rate or without work there is no estimate", () => {
  expect(drainByLevel([{ level: "P0", depth: 5 }], 0).size).toBe(0);
  expect(drainByLevel([{ level: "P0", depth: 5 }], Number.NaN).size).toBe(0);
  expect(drainByLevel([{ level: "P0", depth: 0 }], 5).size).toBe(0);
  expect(drainByLevel([], 5).size).toBe(0);
});

test.each([
  [{ depth: 0, rate_per_s: 0 }, "nothing waits"],
  [{ depth: 10, rate_per_s: 5, drain_s: 2, paused: true }, "paused"],
  [{ depth: 184_201, rate_per_s: 812.5, drain_s: 226.7 }, "~3m 47s"],
  [{ depth: 3, rate_per_s: 500, drain_s: 0.006 }, "<1s"],
  [{ depth: 10, rate_per_s: 5 }, "growing"],
  [{ depth: 10, rate_per_s: 0 }, "not draining"],
])("%o is said as %s", (queue, words) => expect(drainWords(queue)).toBe(words));

test("a cell's own estimate counts only where the queue drains", () => {
  expect(drainWords({ depth: 10, rate_per_s: 5, drain_s: 2 }, 61)).toBe("~1m 01s");
  expect(drainWords({ depth: 10, rate_per_s: 5 }, 61)).toBe("growing");
});
