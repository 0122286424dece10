import { toneOf, toneOrder, type Tone } from "../../../ui/states";
import { bandOf, bandsOf } from "./bands";
import { noTime, noWorker, type Packed } from "./packed";
import { attemptPaints, bandPaints, nonePaint, workerPaints } from "./palette";

/** What cells are coloured by. */
export const colorings = ["state", "duration", "attempt", "worker"] as const;
export type Coloring = (typeof colorings)[number];

/**
 * How a cell looks, in 16 bits: the place of its colour in `palette` (6 bits), its tone, whose shape is drawn where cells are large
 * enough (4 bits), and whether the filter leaves it out (1 bit). Comparing looks says which cells have to be drawn anew.
 */
export type Looks = Uint16Array;

export const faded = 1 << 10;
export const colorOf = (look: number): number => look & 63;
export const toneOfLook = (look: number): Tone => toneOrder[(look >> 6) & 15] ?? "waiting";

/** What a filter lets through; what is left out lets everything through. */
export interface Filter {
  states?: ReadonlySet<string>;
  attempt?: number;
  /** The lower and the upper bound, in ms; the upper one is not in it. */
  took?: readonly [number, number];
  worker?: string;
}

/** The attempt from which on legends and filters make no difference. */
export const mostAttempts = 5;

/** The looks of all shards. Arrays that are not there yet make cells without that colour. */
export function looksOf(p: Packed, by: Coloring, filter: Filter): Looks {
  const n = p.states.length;
  const out = new Uint16Array(n);
  const tones = p.names.map((name) => toneOrder.indexOf(toneOf(name)));
  const borders = by === "duration" && p.durations ? bandsOf(p.durations) : [];
  const passes = p.names.map((name) => !filter.states || filter.states.has(name));
  const worker = filter.worker === undefined ? undefined : (p.workerIds?.indexOf(filter.worker) ?? -1);
  for (let i = 0; i < n; i++) {
    const state = p.states[i] ?? 0;
    const tone = tones[state] ?? 0;
    let color = nonePaint;
    if (by === "state") color = tone;
    else if (by === "duration") {
      const band = p.durations ? bandOf(borders, p.durations[i] ?? noTime) : -1;
      if (band >= 0) color = bandPaint(band, borders.length);
    } else if (by === "attempt") color = attemptPaints + Math.min(p.attempts?.[i] ?? 0, mostAttempts);
    else {
      const w = p.workers?.[i] ?? noWorker;
      if (w !== noWorker) color = workerPaint(w);
    }
    let pass = passes[state] ?? true;
    if (pass && filter.attempt !== undefined) pass = Math.min(p.attempts?.[i] ?? 0, mostAttempts) === Math.min(filter.attempt, mostAttempts);
    if (pass && filter.took) {
      const d = p.durations?.[i] ?? noTime;
      pass = d !== noTime && d >= filter.took[0] && d < filter.took[1];
    }
    if (pass && worker !== undefined) pass = worker >= 0 && p.workers?.[i] === worker;
    out[i] = color | (tone << 6) | (pass ? 0 : faded);
  }
  return out;
}

/** The colour of a band; few bands are spread over the whole scale. */
export const bandPaint = (band: number, bands: number): number => bandPaints.first + (bands < 2 ? 0 : Math.round((band * (bandPaints.count - 1)) / (bands - 1)));

/** The colour of the worker with a number; there are more workers than colours. */
export const workerPaint = (worker: number): number => workerPaints.first + (worker % workerPaints.count);

/** Says whether a filter restricts anything. */
export const restricts = (f: Filter): boolean => f.states !== undefined || f.attempt !== undefined || f.took !== undefined || f.worker !== undefined;
