import { noTime } from "./heat/packed";
import type { Mask } from "./heat/selection";

/** One bar of a histogram of durations, in ms; `to` is not in it. */
export interface Bar {
  from: number;
  to: number;
  /** Shards whose newest attempt took so long, of those that do not run. */
  done: number;
  /** Shards that run and have done so for so long. */
  running: number;
}

/** How many bars a decade may have, from many to few; the first that makes few enough is taken. */
const perDecade = [12, 10, 8, 6, 5, 4, 3, 2, 1];

/**
 * Bins durations on a log scale, in at most `most` bars of equal width on it. What took less than 1 ms counts as 1 ms. `counts` says which
 * shards' durations count; `ages` are how long each of those has run that run now. There are no bars where there is nothing to bin.
 */
export function histogram(durations: Uint32Array, counts: Mask, ages: readonly number[], most = 40): Bar[] {
  let lo = Infinity;
  let hi = 0;
  const widen = (ms: number): void => {
    lo = Math.min(lo, Math.max(1, ms));
    hi = Math.max(hi, ms, 1);
  };
  for (let i = 0; i < durations.length; i++) {
    const d = durations[i] ?? noTime;
    if (d !== noTime && counts[i]) widen(d);
  }
  for (const age of ages) widen(age);
  if (lo === Infinity) return [];
  let steps = 1;
  for (const s of perDecade) {
    steps = s;
    if (binOf(hi, s) - binOf(lo, s) < most) break;
  }
  const first = binOf(lo, steps);
  const bars: Bar[] = Array.from({ length: binOf(hi, steps) - first + 1 }, (_, b) => ({ from: edge(first + b, steps), to: edge(first + b + 1, steps), done: 0, running: 0 }));
  for (let i = 0; i < durations.length; i++) {
    const d = durations[i] ?? noTime;
    if (d === noTime || !counts[i]) continue;
    const bar = bars[binOf(Math.max(1, d), steps) - first];
    if (bar) bar.done++;
  }
  for (const age of ages) {
    const bar = bars[binOf(Math.max(1, age), steps) - first];
    if (bar) bar.running++;
  }
  return bars;
}

const edge = (bin: number, steps: number): number => 10 ** (bin / steps);

/** The bin of a duration; computed edges decide, so that rounding of logarithms cannot put a value beside its bar. */
function binOf(ms: number, steps: number): number {
  let bin = Math.floor(Math.log10(ms) * steps);
  if (ms >= edge(bin + 1, steps)) bin++;
  else if (ms < edge(bin, steps)) bin--;
  return bin;
}

/** The shards of a bar: those whose duration is in it, and those of `ages` (by index) that have run for so long. */
export function shardsOf(bar: Bar, durations: Uint32Array, counts: Mask, ages: ReadonlyMap<number, number>): Mask {
  const mask = new Uint8Array(durations.length);
  const has = (ms: number): boolean => Math.max(1, ms) >= bar.from && Math.max(1, ms) < bar.to;
  for (let i = 0; i < durations.length; i++) {
    const d = durations[i] ?? noTime;
    if (d !== noTime && counts[i] && has(d)) mask[i] = 1;
  }
  for (const [index, age] of ages) if (index < mask.length && has(age)) mask[index] = 1;
  return mask;
}

/** Values at quantiles, by the nearest rank; undefined where there is nothing. Sorts what it is given. */
export function quantiles(values: Uint32Array, qs: readonly number[]): (number | undefined)[] {
  values.sort();
  return qs.map((q) => (values.length === 0 ? undefined : values[Math.min(values.length - 1, Math.max(0, Math.ceil(q * values.length) - 1))]));
}

/** The durations that count, packed. */
export function counted(durations: Uint32Array, counts: Mask): Uint32Array {
  const out = new Uint32Array(durations.length);
  let n = 0;
  for (let i = 0; i < durations.length; i++) {
    const d = durations[i] ?? noTime;
    if (d !== noTime && counts[i]) out[n++] = d;
  }
  return out.slice(0, n);
}
