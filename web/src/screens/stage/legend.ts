import { duration, shortId } from "../../ui/format";
import { toneOf, wordOf, type Tone } from "../../ui/states";
import { bandOf, bandsOf } from "./heat/bands";
import { bandPaint, mostAttempts, workerPaint, type Coloring } from "./heat/look";
import { noTime, noWorker, type Packed } from "./heat/packed";
import { attemptPaints, nonePaint, palette } from "./heat/palette";
import { countStates } from "./heat/selection";
import { tookText } from "./filter";

/** An entry of the map's legend. */
export interface Entry {
  /** What its search param is when the map is filtered by it. */
  value: string;
  label: string;
  /** As CSS. */
  color: string;
  tone?: Tone;
  count: number;
  title?: string;
}

/** The search param that a colouring's legend sets; shards without a value cannot be filtered by it. */
export const paramOf = { state: "state", duration: "took", attempt: "attempt", worker: "worker" } as const;

/** So many workers are listed; the others are counted together. */
const mostWorkers = 16;

/** The legend of a colouring: what occurs, with how many shards have it. An empty `value` cannot be filtered by. */
export function legendOf(p: Packed, by: Coloring): Entry[] {
  if (by === "state") {
    return countStates(p.states, p.names.length).flatMap((count, i) => {
      const name = p.names[i];
      return count === 0 || name === undefined ? [] : [{ value: name, label: wordOf(name), color: `var(--s-${toneOf(name)})`, tone: toneOf(name), count }];
    });
  }
  if (by === "duration") {
    if (!p.durations) return [];
    const borders = bandsOf(p.durations);
    const counts = tally(p.durations, borders.length, (d) => bandOf(borders, d));
    return [
      ...borders.map((from, b) => {
        const to = borders[b + 1] ?? Infinity;
        const label = borders.length === 1 ? "any" : from === 0 ? `< ${duration(to / 1000)}` : `≥ ${duration(from / 1000)}`;
        return { value: tookText(from, to), label, color: color(bandPaint(b, borders.length)), count: counts[b] ?? 0, title: to === Infinity ? `${duration(from / 1000)} and longer` : `${duration(from / 1000)} to ${duration(to / 1000)}` };
      }),
      ...none(counts.none, "not run yet"),
    ].filter((e) => e.count > 0);
  }
  if (by === "attempt") {
    if (!p.attempts) return [];
    const counts = tally(p.attempts, mostAttempts + 1, (a) => Math.min(a, mostAttempts));
    return counts.flatMap((count, a) => (count === 0 ? [] : [{ value: String(a), label: a === 0 ? "none yet" : a === mostAttempts ? `${a} or more` : `attempt ${a}`, color: color(attemptPaints + a), count }]));
  }
  if (!p.workers || !p.workerIds) return [];
  const counts = tally(p.workers, p.workerIds.length, (w) => (w === noWorker ? -1 : w));
  const listed = p.workerIds.map((id, w) => ({ value: id, label: shortId(id), color: color(workerPaint(w)), count: counts[w] ?? 0, title: id })).sort((a, b) => b.count - a.count);
  const others = listed.slice(mostWorkers);
  return [
    ...listed.slice(0, mostWorkers),
    ...(others.length > 0 ? [{ value: "", label: `${others.length} more`, color: color(nonePaint), count: others.reduce((n, e) => n + e.count, 0) }] : []),
    ...none(counts.none, "no worker yet"),
  ];
}

const color = (place: number): string => palette[place] ?? "var(--surface-3)";

const none = (count: number, label: string): Entry[] => (count > 0 ? [{ value: "", label, color: palette[nonePaint] ?? "", count }] : []);

function tally(values: ArrayLike<number>, kinds: number, kind: (value: number) => number): number[] & { none: number } {
  const counts = Object.assign(Array.from({ length: kinds }, () => 0), { none: 0 });
  for (let i = 0; i < values.length; i++) {
    const k = kind(values[i] ?? noTime);
    if (k < 0) counts.none++;
    else counts[k] = (counts[k] ?? 0) + 1;
  }
  return counts;
}
