import type { Schemas } from "../../api/client";
import { duration } from "../../ui/format";

type Level = Schemas["Level"];

/** The engine's shares of P0 to P5, for queues that have none of their own. */
export const weights: Readonly<Record<Level, number>> = { P0: 40, P1: 25, P2: 15, P3: 10, P4: 6, P5: 4 };

/**
 * How long each level of a queue needs until it is empty, in seconds, if nothing is added and `ratePerS` tasks a second finish as they do
 * now. Levels share that rate by weight, and the share of an empty one goes to the others, as the engine hands work out; aging is left out.
 */
export function drainByLevel(cells: readonly Pick<Schemas["LevelBacklog"], "level" | "depth">[], ratePerS: number, shares: Readonly<Record<Level, number>> = weights): Map<Level, number> {
  const out = new Map<Level, number>();
  if (!(ratePerS > 0)) return out;
  let left = cells.filter((c) => c.depth > 0).map((c) => ({ level: c.level, depth: c.depth }));
  let now = 0;
  while (left.length > 0) {
    const sum = left.reduce((s, c) => s + shares[c.level], 0);
    const speed = (level: Level) => (ratePerS * shares[level]) / sum;
    const step = Math.min(...left.map((c) => c.depth / speed(c.level)));
    now += step;
    for (const c of left) {
      c.depth -= speed(c.level) * step;
      // What is left by rounding is nothing.
      if (c.depth < 1e-6) out.set(c.level, now);
    }
    left = left.filter((c) => !out.has(c.level));
  }
  return out;
}

/** An estimate in words: `~3m 47s`, or why there is none. */
export function drainWords(queue: Pick<Schemas["QueueBacklog"], "depth" | "drain_s" | "paused" | "rate_per_s">, seconds: number | undefined = queue.drain_s): string {
  if (queue.depth === 0) return "nothing waits";
  if (queue.paused) return "paused";
  if (seconds !== undefined && queue.drain_s !== undefined) return seconds < 1 ? "<1s" : `~${duration(seconds)}`;
  return queue.rate_per_s > 0 ? "growing" : "not draining";
}

/** The shares of a queue that has `own` ones, in the order P0 to P5; else the engine's. */
export function weightsOf(own: readonly number[] | undefined): Readonly<Record<Level, number>> {
  if (own?.length !== 6) return weights;
  const [P0 = 1, P1 = 1, P2 = 1, P3 = 1, P4 = 1, P5 = 1] = own;
  return { P0, P1, P2, P3, P4, P5 };
}
