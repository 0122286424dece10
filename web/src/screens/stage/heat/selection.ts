import type { Spans } from "./spans";

/** Which shards are selected: one byte a shard, 1 for those that are. */
export type Mask = Uint8Array;

/** The mask of a set; what lies beyond `total` is left out. */
export function maskOf(spans: Spans, total: number): Mask {
  const mask = new Uint8Array(Math.max(0, total));
  for (const [lo, hi] of spans) mask.fill(1, lo, Math.max(lo, Math.min(hi, mask.length)));
  return mask;
}

/** The set of a mask. */
export function spansOf(mask: Mask): Spans {
  const out: [number, number][] = [];
  for (let i = mask.indexOf(1); i >= 0; ) {
    let end = mask.indexOf(0, i);
    if (end < 0) end = mask.length;
    out.push([i, end]);
    i = mask.indexOf(1, end);
  }
  return out;
}

/** How many are selected. */
export function sizeOfMask(mask: Mask): number {
  let n = 0;
  for (let i = 0; i < mask.length; i++) n += mask[i] ?? 0;
  return n;
}

/**
 * Selects what stands between two places in reading order, both included, as text is selected. `at` gives the index of a place (undefined:
 * they are the same). `base` is what was selected before and stays; undefined for nothing.
 */
export function between(total: number, from: number, to: number, at: Uint32Array | undefined, base?: Mask): Mask {
  const mask = base ? base.slice() : new Uint8Array(total);
  const lo = Math.max(0, Math.min(from, to));
  const hi = Math.min(total - 1, Math.max(from, to));
  for (let place = lo; place <= hi; place++) mask[at?.[place] ?? place] = 1;
  return mask;
}

/** Selects one more, or one less if it was selected. */
export function toggled(mask: Mask, index: number): Mask {
  const out = mask.slice();
  if (index >= 0 && index < out.length) out[index] = out[index] ? 0 : 1;
  return out;
}

/** How many of the selected shards are in each state, by its number. */
export function countStates(states: Uint8Array, kinds: number, mask?: Mask): number[] {
  const counts = Array.from({ length: kinds }, () => 0);
  for (let i = 0; i < states.length; i++) {
    if (mask && !mask[i]) continue;
    const state = states[i] ?? 0;
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

/** The shards in some states, by their names. */
export function maskOfStates({ names, states }: { names: readonly string[]; states: Uint8Array }, wanted: readonly string[]): Mask {
  const has = names.map((name) => (wanted.includes(name) ? 1 : 0));
  const mask = new Uint8Array(states.length);
  for (let i = 0; i < mask.length; i++) mask[i] = has[states[i] ?? 0] ?? 0;
  return mask;
}
