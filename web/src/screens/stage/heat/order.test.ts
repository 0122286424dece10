import { expect, test } from "vitest";
import { orderBy } from "./order";
import { noTime } from "./packed";

const values = [500, 20, noTime, 70_000, 20, 3_000_000_000, 0];

test("the smallest first, equal ones by index, none last", () => {
  const { at, place } = orderBy(Uint32Array.from(values), noTime, false);
  expect([...at]).toEqual([6, 1, 4, 0, 3, 5, 2]);
  expect([...place]).toEqual([3, 1, 6, 4, 2, 5, 0]);
});

test("the largest first, equal ones by index, none last", () => {
  expect([...orderBy(Uint32Array.from(values), noTime, true).at]).toEqual([5, 3, 0, 1, 4, 6, 2]);
});

test("nothing, and one", () => {
  expect([...orderBy(new Uint32Array(0), noTime, true).at]).toEqual([]);
  expect([...orderBy(Uint32Array.of(9), noTime, true).at]).toEqual([0]);
});

test("100,000 are the order that a plain sort gives", () => {
  let x = 1;
  const many = Uint32Array.from({ length: 100_000 }, () => (x = (x * 48_271) % 2_147_483_647));
  const want = [...many.keys()].sort((a, b) => (many[a] ?? 0) - (many[b] ?? 0) || a - b);
  expect([...orderBy(many, noTime, false).at]).toEqual(want);
});
