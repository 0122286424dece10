import { expect, test } from "vitest";
import { noTime } from "./heat/packed";
import { stragglersOf } from "./stragglers";

const counts = (n: number) => new Uint8Array(n).fill(1);

test("what runs for longer than twice p95, the longest first", () => {
  const got = stragglersOf(Uint32Array.of(100, noTime, noTime), counts(3), new Map([[1, 250], [2, 900], [0, 200]]), 100);
  expect(got).toEqual({ late: true, items: [{ index: 2, took: 900, running: true }, { index: 1, took: 250, running: true }], more: 0 });
});

test("else the longest that have finished, equal ones by index", () => {
  const got = stragglersOf(Uint32Array.of(5, 9, noTime, 9, 7), Uint8Array.of(1, 1, 1, 1, 0), new Map([[2, 10]]), 100);
  expect(got).toEqual({ late: false, items: [{ index: 1, took: 9, running: false }, { index: 3, took: 9, running: false }, { index: 0, took: 5, running: false }], more: 0 });
});

test("eight at most", () => {
  const ages = new Map(Array.from({ length: 20 }, (_, i) => [i, 1000 + i] as const));
  const late = stragglersOf(new Uint32Array(20).fill(noTime), counts(20), ages, 1);
  expect(late.items.map((s) => s.index)).toEqual([19, 18, 17, 16, 15, 14, 13, 12]);
  expect(late.more).toBe(12);
  const done = stragglersOf(Uint32Array.from({ length: 20 }, (_, i) => (i * 7) % 20), counts(20), new Map(), undefined);
  expect(done.items.map((s) => s.took)).toEqual([19, 18, 17, 16, 15, 14, 13, 12]);
});

test("nothing has run", () => {
  expect(stragglersOf(new Uint32Array(0), counts(0), new Map(), undefined).items).toEqual([]);
});
