/** The greatest index that the API takes. */
export const maxIndex = 1_000_000;

/** A set of indices as ascending ranges that neither overlap nor touch; `hi` is not in the range. */
export type Spans = readonly (readonly [lo: number, hi: number])[];

/**
 * Reads a set as the API writes it, such as `0-99,117`; blanks, ranges that overlap and ranges out of order are taken too.
 * It returns undefined for what the API would refuse.
 */
export function parseSpans(text: string): Spans | undefined {
  const ranges: [number, number][] = [];
  for (const part of text.split(",")) {
    const match = /^\s*(\d{1,7})\s*(?:-\s*(\d{1,7})\s*)?$/.exec(part);
    if (!match) return undefined;
    const lo = Number(match[1]);
    const hi = match[2] === undefined ? lo : Number(match[2]);
    if (hi < lo || hi > maxIndex) return undefined;
    ranges.push([lo, hi + 1]);
  }
  ranges.sort((a, b) => a[0] - b[0]);
  const out: [number, number][] = [];
  for (const [lo, hi] of ranges) {
    const last = out.at(-1);
    if (last && lo <= last[1]) last[1] = Math.max(last[1], hi);
    else out.push([lo, hi]);
  }
  return out;
}

/** Writes a set as the API reads it; the empty set is the empty text. */
export const formatSpans = (spans: Spans): string => spans.map(([lo, hi]) => (hi - lo === 1 ? String(lo) : `${lo}-${hi - 1}`)).join(",");

/** How many indices are in the set. */
export const sizeOf = (spans: Spans): number => spans.reduce((n, [lo, hi]) => n + hi - lo, 0);
