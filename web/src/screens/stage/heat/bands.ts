import { noTime } from "./packed";

/** How many bands durations are coloured in. */
export const bandCount = 8;

/**
 * The borders of the bands of durations, in ms and ascending, evenly spaced on a log scale between the shortest and the longest: band b is
 * from `borders[b]` up to `borders[b + 1]`, the last one has no end. Empty where nothing has a duration; fewer where they hardly differ.
 */
export function bandsOf(durations: Uint32Array): number[] {
  let lo = Infinity;
  let hi = 0;
  for (let i = 0; i < durations.length; i++) {
    const d = durations[i] ?? noTime;
    if (d === noTime) continue;
    if (d < lo) lo = d;
    if (d > hi) hi = d;
  }
  if (lo === Infinity) return [];
  const from = Math.max(1, lo);
  const ratio = Math.max(1, hi) / from;
  const borders = [0];
  for (let b = 1; b < bandCount; b++) {
    const border = round(from * ratio ** (b / bandCount));
    if (border > (borders.at(-1) ?? 0) && border <= hi) borders.push(border);
  }
  return borders;
}

/** Two significant digits and whole ms, so that legends can be read. */
const round = (ms: number): number => Math.round(Number(ms.toPrecision(2)));

/** The band of a duration; -1 for none. */
export function bandOf(borders: readonly number[], duration: number): number {
  if (duration === noTime) return -1;
  let b = borders.length - 1;
  while (b > 0 && duration < (borders[b] ?? 0)) b--;
  return b;
}
