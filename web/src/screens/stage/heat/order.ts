/** An order of shards: which shard stands at a place, and at which place a shard stands. Undefined stands for the order of indices. */
export interface Order {
  at: Uint32Array;
  place: Uint32Array;
}

/**
 * Orders by a value, the smallest first, or the largest first with `descending`; what equals `none` comes last. Equal values stay in the
 * order of their indices. A radix sort in two passes: 100,000 take a few milliseconds.
 */
export function orderBy(values: Uint32Array, none: number, descending: boolean): Order {
  const n = values.length;
  // Turned round, the largest comes first. What has no value is the greatest key in either direction.
  const keys = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    const v = values[i] ?? 0;
    keys[i] = v === none ? 0xffff_ffff : descending ? 0xffff_fffe - v : v;
  }
  const identity = new Uint32Array(n);
  for (let i = 0; i < n; i++) identity[i] = i;
  const at = pass(pass(identity, keys, 0), keys, 16);
  const place = new Uint32Array(n);
  for (let p = 0; p < n; p++) place[at[p] ?? 0] = p;
  return { at, place };
}

/** Sorts indices by 16 bits of their keys, stably. */
function pass(from: Uint32Array, keys: Uint32Array, shift: number): Uint32Array {
  const starts = new Uint32Array(65_537);
  for (let i = 0; i < keys.length; i++) {
    const digit = (((keys[i] ?? 0) >>> shift) & 0xffff) + 1;
    starts[digit] = (starts[digit] ?? 0) + 1;
  }
  for (let d = 1; d < starts.length; d++) starts[d] = (starts[d] ?? 0) + (starts[d - 1] ?? 0);
  const to = new Uint32Array(from.length);
  for (let i = 0; i < from.length; i++) {
    const index = from[i] ?? 0;
    const digit = ((keys[index] ?? 0) >>> shift) & 0xffff;
    const place = starts[digit] ?? 0;
    to[place] = index;
    starts[digit] = place + 1;
  }
  return to;
}
