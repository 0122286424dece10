import { noTime } from "./heat/packed";

/** A shard that takes long, in ms. */
export interface Straggler {
  index: number;
  took: number;
  running: boolean;
}

/** A shard that has run for longer than this many times p95 holds the stage up. */
export const factor = 2;

/** So many are listed. */
const most = 8;

/**
 * The shards that hold the stage up: those that run and have done so for longer than `factor` times p95, the longest first. If there are none,
 * the longest of those that have finished (`counts`), with `late` false.
 */
export function stragglersOf(durations: Uint32Array, counts: Uint8Array, ages: ReadonlyMap<number, number>, p95: number | undefined): { late: boolean; items: Straggler[]; more: number } {
  if (p95 !== undefined) {
    const late = [...ages].filter(([, age]) => age > factor * p95).sort((a, b) => b[1] - a[1]);
    if (late.length > 0) return { late: true, items: late.slice(0, most).map(([index, took]) => ({ index, took, running: true })), more: Math.max(0, late.length - most) };
  }
  const longest: Straggler[] = [];
  for (let index = 0; index < durations.length; index++) {
    const took = durations[index] ?? noTime;
    if (took === noTime || !counts[index]) continue;
    if (longest.length === most && took <= (longest.at(-1)?.took ?? 0)) continue;
    const place = longest.findIndex((s) => s.took < took);
    longest.splice(place < 0 ? longest.length : place, 0, { index, took, running: false });
    longest.length = Math.min(longest.length, most);
  }
  return { late: false, items: longest, more: 0 };
}
