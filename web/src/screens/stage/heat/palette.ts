import { toneOrder } from "../../../ui/states";

const mix = (a: string, b: string, share: number): string => `color-mix(in oklab, ${a}, ${b} ${share}%)`;

// From hardly there over blue to the colour of text: the slowest stand out most, in light and dark.
const bands = [
  mix("var(--surface-3)", "var(--s-running)", 12),
  mix("var(--surface-3)", "var(--s-running)", 34),
  mix("var(--surface-3)", "var(--s-running)", 58),
  mix("var(--surface-3)", "var(--s-running)", 82),
  mix("var(--s-running)", "var(--text)", 10),
  mix("var(--s-running)", "var(--text)", 36),
  mix("var(--s-running)", "var(--text)", 64),
  "var(--text)",
];

const attempts = ["var(--surface-3)", mix("var(--surface-3)", "var(--s-succeeded)", 45), mix("var(--surface-3)", "var(--s-retrying)", 70), "var(--s-retrying)", mix("var(--s-retrying)", "var(--s-failed)", 50), "var(--s-failed)"];

// Twelve hues of the same weight. Neighbours in the list are far apart on the circle.
const workers = Array.from({ length: 12 }, (_, k) => `oklch(from var(--s-running) l 0.13 calc(h + ${(k * 150) % 360}))`);

/** The colours of cells, as CSS: tones by their order, none, bands of durations, attempts, workers. A look names a place in it. */
export const palette: readonly string[] = [...toneOrder.map((t) => `var(--s-${t})`), "var(--surface-3)", ...bands, ...attempts, ...workers];

/** The colour of what has no value. */
export const nonePaint = toneOrder.length;
export const bandPaints = { first: nonePaint + 1, count: bands.length };
/** The colour of attempt 0, of which there is none yet; the others follow. */
export const attemptPaints = bandPaints.first + bands.length;
export const workerPaints = { first: attemptPaints + attempts.length, count: workers.length };
