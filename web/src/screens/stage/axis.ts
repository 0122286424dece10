/** Round durations to label a log axis with, in ms: those that people say. */
const round = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 60_000, 180_000, 600_000, 1_800_000, 3_600_000, 10_800_000, 43_200_000, 86_400_000, 259_200_000, 864_000_000];

/** Where a duration stands on a log axis from `lo` to `hi`, as a share from 0 to 1. */
export const shareOf = (ms: number, lo: number, hi: number): number => (hi > lo ? Math.min(1, Math.max(0, Math.log(Math.max(lo, ms) / lo) / Math.log(hi / lo))) : 0);

/** The labels of a log axis, at most `most`, in ms. */
export function ticks(lo: number, hi: number, most: number): number[] {
  const inside = round.filter((t) => t >= lo && t <= hi);
  const step = Math.ceil(inside.length / Math.max(1, most));
  return inside.filter((_, i) => i % step === 0);
}
