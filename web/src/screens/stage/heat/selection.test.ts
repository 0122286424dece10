import { expect, test } from "vitest";
import { between, countStates, maskOf, maskOfStates, sizeOfMask, spansOf, toggled } from "./selection";

test("sets and masks are the same", () => {
  expect([...maskOf([[1, 3], [4, 5]], 6)]).toEqual([0, 1, 1, 0, 1, 0]);
  expect(spansOf(Uint8Array.of(0, 1, 1, 0, 1, 0))).toEqual([[1, 3], [4, 5]]);
  expect(spansOf(Uint8Array.of(1, 1))).toEqual([[0, 2]]);
  expect(spansOf(new Uint8Array(3))).toEqual([]);
  expect(spansOf(new Uint8Array(0))).toEqual([]);
});

test("a set that goes beyond the stage is cut", () => {
  expect([...maskOf([[1, 99], [200, 300]], 3)]).toEqual([0, 1, 1]);
  expect(maskOf([[0, 5]], -1)).toHaveLength(0);
});

test("a brush selects in reading order, in either direction", () => {
  expect([...between(5, 1, 3, undefined)]).toEqual([0, 1, 1, 1, 0]);
  expect([...between(5, 3, 1, undefined)]).toEqual([0, 1, 1, 1, 0]);
  expect([...between(5, 3, 99, undefined)]).toEqual([0, 0, 0, 1, 1]);
  // Places 0..4 hold shards 4, 0, 3, 1, 2: the first two places are shards 4 and 0.
  expect([...between(5, 0, 1, Uint32Array.of(4, 0, 3, 1, 2))]).toEqual([1, 0, 0, 0, 1]);
});

test("what was selected stays, and is not changed itself", () => {
  const base = Uint8Array.of(1, 0, 0, 0);
  expect([...between(4, 2, 3, undefined, base)]).toEqual([1, 0, 1, 1]);
  expect([...toggled(base, 0)]).toEqual([0, 0, 0, 0]);
  expect([...toggled(base, 3)]).toEqual([1, 0, 0, 1]);
  expect([...toggled(base, 7)]).toEqual([1, 0, 0, 0]);
  expect([...base]).toEqual([1, 0, 0, 0]);
});

test("counts", () => {
  expect(sizeOfMask(Uint8Array.of(1, 0, 1))).toBe(2);
  expect(countStates(Uint8Array.of(2, 0, 2, 1), 3)).toEqual([1, 1, 2]);
  expect(countStates(Uint8Array.of(2, 0, 2, 1), 3, Uint8Array.of(1, 1, 0, 0))).toEqual([1, 0, 1]);
});

test("shards by state", () => {
  const p = { names: ["ready", "dead", "expired"], states: Uint8Array.of(0, 1, 2, 0) };
  expect([...maskOfStates(p, ["dead", "expired"])]).toEqual([0, 1, 1, 0]);
  expect([...maskOfStates(p, ["lost"])]).toEqual([0, 0, 0, 0]);
});
