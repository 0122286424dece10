import { expect, it } from "vitest";
import { timesText, usualBar } from "./usual";

const usual = { p50: 50, p95: 100 };

it("places elapsed time between its ticks", () => {
  expect(usualBar(25, usual)).toEqual({ length: 0.175, p50: 0.35, p95: 0.7, band: "usual", times: undefined });
  expect(usualBar(100, usual)).toMatchObject({ length: 0.7, band: "slow", times: undefined });
});

it("says how many times what is usual beyond p95, and stays within its width", () => {
  expect(usualBar(105, usual)).toMatchObject({ band: "beyond", times: 2.1 });
  expect(usualBar(1e6, usual)).toMatchObject({ length: 1, times: 20_000 });
});

it("says nothing where nothing is usual", () => {
  expect(usualBar(5, undefined)).toBeUndefined();
  expect(usualBar(5, { p50: 0, p95: 0 })).toBeUndefined();
  expect(usualBar(5, { p50: 0, p95: 1 })?.times).toBeUndefined();
});

it("writes times", () => {
  expect(timesText(2.1)).toBe("2.1× usual");
  expect(timesText(9.96)).toBe("10× usual");
  expect(timesText(14.4)).toBe("14× usual");
});
