import { expect, test } from "vitest";
import { noTime } from "./heat/packed";
import { skewOf } from "./skew";

/** `n` shards of 1 s, but for those that are named. */
const shards = (n: number, other: Record<number, number>) => Uint32Array.from({ length: n }, (_, i) => other[i] ?? 1000);
const done = (n: number) => new Uint8Array(n).fill(1);

test("one shard of four minutes among a hundred of a second", () => {
  const skew = skewOf(shards(100, { 17: 240_000 }), done(100));
  // 240 s of 339 s.
  expect(skew).toMatchObject({ slowest: 1, index: 17, took: 240_000, middle: 1000 });
  expect(skew?.share).toBeCloseTo(240 / 339);
  expect(skew?.saves).toBeUndefined();
});

test("splitting saves what the stage waited for it alone", () => {
  const durations = shards(100, { 17: 240_000 });
  // All start within the first 10 s; the others end after 11 s, the slow one, begun at 5 s, after 245 s. Cut in 100, the others end last.
  const started = Uint32Array.from({ length: 100 }, (_, i) => (i === 17 ? 5000 : i * 101));
  const skew = skewOf(durations, done(100), started);
  expect(skew?.pieces).toBe(100);
  expect(skew?.saves).toBe(245_000 - (99 * 101 + 1000));
});

test("splitting what ends before others saves nothing", () => {
  const started = Uint32Array.from({ length: 100 }, (_, i) => (i === 17 ? 0 : 500_000));
  expect(skewOf(shards(100, { 17: 240_000 }), done(100), started)?.saves).toBe(0);
});

test("no alarm for few shards, even ones, short ones, and a slow one that does not count", () => {
  expect(skewOf(shards(39, { 3: 240_000 }), done(39))).toBeUndefined();
  expect(skewOf(shards(10_000, {}), done(10_000))).toBeUndefined();
  // Three times the middle one is no skew.
  expect(skewOf(shards(100, { 3: 3000 }), done(100))).toBeUndefined();
  // 990 ms against 1 ms: nobody waits for that.
  expect(skewOf(Uint32Array.from({ length: 100 }, (_, i) => (i === 3 ? 990 : 1)), done(100))).toBeUndefined();
  // A slow one that is a thousandth of the time.
  expect(skewOf(shards(100_000, { 3: 60_000 }), done(100_000))).toBeUndefined();
  const failed = done(100);
  failed[17] = 0;
  expect(skewOf(shards(100, { 17: 240_000 }), failed)).toBeUndefined();
  expect(skewOf(new Uint32Array(100).fill(noTime), done(100))).toBeUndefined();
  expect(skewOf(new Uint32Array(0), done(0))).toBeUndefined();
});
