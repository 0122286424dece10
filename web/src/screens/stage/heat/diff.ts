/**
 * The indices at which two arrays differ, ascending; undefined if more than `most` do or if their lengths differ, so that drawing
 * everything is cheaper.
 */
export function diff(before: ArrayLike<number>, after: ArrayLike<number>, most: number): Uint32Array | undefined {
  if (before.length !== after.length) return undefined;
  const out = new Uint32Array(Math.min(most, after.length));
  let n = 0;
  for (let i = 0; i < after.length; i++) {
    if (before[i] === after[i]) continue;
    if (n === out.length) return undefined;
    out[n++] = i;
  }
  return out.subarray(0, n);
}
