import type { Schemas } from "../../api/client";

/** A chart's times (s since 1970) and the rates a second at them. */
export interface RateLines {
  times: number[];
  started: (number | null)[];
  succeeded: (number | null)[];
  failed: (number | null)[];
}

/**
 * Rates a second of counts by step. The last step is still going on: what was counted so far over the time so far says nothing reliable
 * and would end every line in a fall, so it is left out.
 */
export function rates(counts: Schemas["Rates"], from: string, stepS: number): RateLines {
  const start = new Date(from).getTime() / 1000;
  const whole = Math.max(0, counts.started.length - 1);
  const line = (list: readonly number[]) => Array.from({ length: whole }, (_, i) => (list[i] ?? 0) / stepS);
  return {
    times: Array.from({ length: whole }, (_, i) => start + i * stepS),
    started: line(counts.started),
    succeeded: line(counts.succeeded),
    failed: line(counts.failed),
  };
}

/** The sum of a list of counts. */
export const total = (list: readonly number[]): number => list.reduce((sum, n) => sum + n, 0);

/** Whether nothing at all was counted. */
export const quiet = (...all: readonly Schemas["Rates"][]): boolean => all.every((r) => total(r.started) + total(r.succeeded) + total(r.failed) === 0);
