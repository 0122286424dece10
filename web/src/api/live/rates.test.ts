import { expect, test } from "vitest";
import { Rates } from "./rates";

const steady = (perSecond: number, seconds: number, everyMs = 250): Rates => {
  const r = new Rates();
  for (let at = 0; at <= seconds * 1000; at += everyMs) r.tell("x", at, Math.floor((perSecond * at) / 1000));
  return r;
};

test("a steady counter has its rate", () => {
  expect(steady(800, 60).rate("x", 60_000)).toBeCloseTo(800, 0);
  expect(steady(2, 60).rate("x", 60_000)).toBeCloseTo(2, 0);
});

test("one every half minute is a rate too", () => {
  // At 0, 30 … 120 s one more each: 4 in 120 s.
  expect(steady(1 / 30, 120, 30_000).rate("x", 120_000)).toBeCloseTo(1 / 30, 4);
});

test("a counter that stands still comes to nothing", () => {
  const r = steady(100, 30);
  const soon = r.rate("x", 40_000) ?? Number.NaN;
  const later = r.rate("x", 80_000) ?? Number.NaN;
  expect(soon).toBeLessThan(100);
  expect(later).toBeLessThan(soon);
  expect(r.rate("x", 30_000 + 120_001)).toBe(0);
});

test("the newest change of pace counts", () => {
  const r = new Rates();
  for (let s = 0; s <= 60; s++) r.tell("x", s * 1000, s * 1000);
  for (let s = 61; s <= 80; s++) r.tell("x", s * 1000, 60_000 + (s - 60) * 10);
  expect(r.rate("x", 80_000)).toBeCloseTo(10, 0);
});

test("a rerun begins anew", () => {
  const r = steady(100, 30);
  r.tell("x", 31_000, 0);
  expect(r.rate("x", 31_500)).toBeUndefined();
  r.tell("x", 33_000, 10);
  expect(r.rate("x", 33_000)).toBeCloseTo(5);
});

test("nothing is said too early, nor of what is unknown", () => {
  const r = new Rates();
  expect(r.rate("x", 0)).toBeUndefined();
  r.tell("x", 0, 500);
  expect(r.rate("x", 999)).toBeUndefined();
  expect(r.rate("x", 1000)).toBe(0);
});

test("the first value is not what was done since", () => {
  const r = new Rates();
  r.tell("x", 0, 50_000);
  r.tell("x", 2000, 50_100);
  expect(r.rate("x", 2000)).toBeCloseTo(50);
});
