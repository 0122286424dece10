import { noTime } from "./heat/packed";

/** What makes a stage uneven, if anything does. All times in ms. */
export interface Skew {
  /** How many the slowest hundredth are, and the share of all time that they took. */
  slowest: number;
  share: number;
  /** The slowest one alone. */
  index: number;
  took: number;
  /** The middle one, to compare. */
  middle: number;
  /** How much sooner the stage would have ended if the slowest one had been cut into `pieces`; undefined while it is not known. */
  saves?: number;
  pieces: number;
}

/** With fewer shards one slow one says nothing. */
const fewest = 40;

/**
 * Looks for skew among the shards that have succeeded (`done`). It keeps silent unless the slowest hundredth took more than a tenth of the
 * time, the slowest one more than five times the middle one, and more than a second. `started` (ms since any one moment) tells what splitting would save;
 * it is only asked for a stage that has ended.
 */
export function skewOf(durations: Uint32Array, done: Uint8Array, started?: Uint32Array): Skew | undefined {
  const all = new Uint32Array(durations.length);
  let n = 0;
  let sum = 0;
  let index = -1;
  let took = -1;
  for (let i = 0; i < durations.length; i++) {
    const d = durations[i] ?? noTime;
    if (d === noTime || !done[i]) continue;
    all[n++] = d;
    sum += d;
    if (d > took) [took, index] = [d, i];
  }
  if (n < fewest) return undefined;
  const sorted = all.subarray(0, n).sort();
  const slowest = Math.max(1, Math.round(sorted.length / 100));
  const middle = sorted[sorted.length >> 1] ?? 0;
  const slow = sorted.subarray(sorted.length - slowest).reduce((total, d) => total + d, 0);
  const share = sum > 0 ? slow / sum : 0;
  if (took < 1000 || took < 5 * middle || share < 0.1) return undefined;
  const pieces = Math.min(100, Math.max(2, Math.round(took / Math.max(1, sorted[Math.floor(sorted.length * 0.95)] ?? took))));
  const skew: Skew = { slowest, share, index, took, middle, pieces };
  if (started) skew.saves = savesOf(durations, done, started, index, pieces);
  return skew;
}

/** The stage ends with its last shard: with the pieces of this one side by side, that is the last of them or of the others. */
function savesOf(durations: Uint32Array, done: Uint8Array, started: Uint32Array, index: number, pieces: number): number {
  let end = 0;
  let others = 0;
  for (let i = 0; i < durations.length; i++) {
    const [d, s] = [durations[i] ?? noTime, started[i] ?? noTime];
    if (d === noTime || s === noTime || !done[i]) continue;
    end = Math.max(end, s + d);
    if (i !== index) others = Math.max(others, s + d);
  }
  const split = (started[index] ?? 0) + (durations[index] ?? 0) / pieces;
  return Math.max(0, end - Math.max(others, split));
}
