/** What a run's elapsed time is held against: half of its flow's runs take no longer than `p50`, 95 of 100 no longer than `p95`. Seconds. */
export interface Usual {
  p50: number;
  p95: number;
}

/** A bar of elapsed time with a tick at p50 and one at p95. Places are shares of its width, 0 to 1. */
export interface UsualBar {
  length: number;
  p50: number;
  p95: number;
  /** Within what half of the runs take, within what nearly all take, or beyond. */
  band: "usual" | "slow" | "beyond";
  /** How many times what is usual, where that is worth saying: beyond p95. */
  times: number | undefined;
}

/** p95 stands at this share of the bar, so that what is beyond has room. */
const p95At = 0.7;

/** The bar for a time. Nothing can be said where the flow has no usual time. */
export function usualBar(elapsed: number, usual: Usual | undefined): UsualBar | undefined {
  if (!usual || !(usual.p95 > 0) || !(usual.p50 >= 0)) return undefined;
  const place = (s: number): number => Math.min(1, Math.max(0, (s / usual.p95) * p95At));
  const band = elapsed <= usual.p50 ? "usual" : elapsed <= usual.p95 ? "slow" : "beyond";
  return { length: place(elapsed), p50: place(usual.p50), p95: p95At, band, times: band === "beyond" && usual.p50 > 0 ? elapsed / usual.p50 : undefined };
}

/** "2.1× usual", "14× usual". */
export const timesText = (times: number): string => `${times < 9.95 ? times.toFixed(1) : Math.round(times)}× usual`;
