import { expect, test } from "vitest";
import { noTime } from "./heat/packed";
import { counted, histogram, quantiles, shardsOf } from "./histogram";

const all = (n: number) => new Uint8Array(n).fill(1);

test("every duration is in the bar around it, and in one only", () => {
  const values = [1, 9, 10, 11, 99, 100, 1000, 12_345, 999_999];
  const bars = histogram(Uint32Array.from(values), all(values.length), []);
  expect(bars.reduce((n, b) => n + b.done, 0)).toBe(values.length);
  for (const v of values) expect(bars.filter((b) => v >= b.from && v < b.to)).toHaveLength(1);
  for (const [i, b] of bars.entries()) {
    expect(b.done).toBe(values.filter((v) => v >= b.from && v < b.to).length);
    expect(b.to / b.from).toBeCloseTo((bars[0]?.to ?? 0) / (bars[0]?.from ?? 1));
    expect(i === 0 || b.from === bars[i - 1]?.to).toBe(true);
  }
});

test("there are no more bars than asked for, and none is empty at the edges", () => {
  for (const most of [6, 12, 40]) {
    const bars = histogram(Uint32Array.of(3, 700, 50_000), all(3), [], most);
    expect(bars.length).toBeLessThanOrEqual(most);
    expect(bars[0]?.done).toBeGreaterThan(0);
    expect(bars.at(-1)?.done).toBeGreaterThan(0);
  }
});

test("running ones stand at their age, also beyond what has finished", () => {
  const bars = histogram(Uint32Array.of(100, noTime), all(2), [10_000, 100]);
  expect(bars.at(-1)).toMatchObject({ done: 0, running: 1 });
  expect(bars[0]).toMatchObject({ done: 1, running: 1 });
});

test("nothing to bin, and one value", () => {
  expect(histogram(new Uint32Array(0), all(0), [])).toEqual([]);
  expect(histogram(Uint32Array.of(noTime, 5), Uint8Array.of(1, 0), [])).toEqual([]);
  expect(histogram(Uint32Array.of(0), all(1), [])).toHaveLength(1);
  expect(histogram(new Uint32Array(0), all(0), [0.2])).toMatchObject([{ done: 0, running: 1 }]);
});

test("a bar's shards", () => {
  const durations = Uint32Array.of(100, 5000, 101, noTime, 100);
  const counts = Uint8Array.of(1, 1, 1, 0, 0);
  const bar = { from: 100, to: 110, done: 2, running: 1 };
  expect([...shardsOf(bar, durations, counts, new Map([[3, 105], [99, 105]]))]).toEqual([1, 0, 1, 1, 0]);
});

test("quantiles are values that occur, by the nearest rank", () => {
  const hundred = Uint32Array.from({ length: 100 }, (_, i) => 100 - i);
  expect(quantiles(hundred, [0.5, 0.95, 0.99, 1])).toEqual([50, 95, 99, 100]);
  expect(quantiles(Uint32Array.of(7), [0, 0.5, 1])).toEqual([7, 7, 7]);
  expect(quantiles(new Uint32Array(0), [0.5])).toEqual([undefined]);
  expect([...counted(Uint32Array.of(3, noTime, 1), Uint8Array.of(1, 1, 0))]).toEqual([3]);
});
