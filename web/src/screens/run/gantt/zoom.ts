/** What of the time axis is in sight, in ms. */
export interface Span {
  from: number;
  to: number;
}

/** The least that may be in sight, in ms. */
const least = 20;

/** Keeps a span within bounds, as long as it is if that goes. */
export function within(span: Span, bounds: Span): Span {
  const room = Math.max(bounds.to - bounds.from, least);
  const length = Math.min(Math.max(span.to - span.from, least), room);
  const from = Math.min(Math.max(span.from, bounds.from), bounds.from + room - length);
  return { from, to: from + length };
}

/** Makes what is in sight `factor` times as long; `at` stays where it is. */
export function zoom(span: Span, at: number, factor: number, bounds: Span): Span {
  const length = Math.min(Math.max((span.to - span.from) * factor, least), Math.max(bounds.to - bounds.from, least));
  const share = (at - span.from) / Math.max(span.to - span.from, 1);
  return within({ from: at - share * length, to: at + (1 - share) * length }, bounds);
}

/** Moves what is in sight by `ms`. */
export const pan = (span: Span, ms: number, bounds: Span): Span => within({ from: span.from + ms, to: span.to + ms }, bounds);

/** A span as a search param: seconds since the run's start, such as `12.5..80`. */
export const format = (span: Span, start: number): string => `${round((span.from - start) / 1000)}..${round((span.to - start) / 1000)}`;

/** Reads what `format` has written; undefined is all of it. */
export function parse(text: string | undefined, start: number): Span | undefined {
  const [from, to, rest] = (text ?? "").split("..");
  const a = Number(from);
  const b = Number(to);
  if (!from || !to || rest !== undefined || !Number.isFinite(a) || !Number.isFinite(b) || b <= a) return undefined;
  return { from: start + a * 1000, to: start + b * 1000 };
}

const round = (seconds: number): number => Math.round(seconds * 1000) / 1000;
