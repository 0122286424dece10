import { duration } from "../../../ui/format";
import { zoneName, type Zone } from "../../../ui/zone";

/** A mark of the time axis. */
export interface Tick {
  at: number;
  label: string;
}

const s = 1000;
const m = 60 * s;
const h = 60 * m;
const d = 24 * h;

/** Distances between marks that people read easily, in ms. */
const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, s, 2 * s, 5 * s, 10 * s, 15 * s, 30 * s, m, 2 * m, 5 * m, 10 * m, 15 * m, 30 * m, h, 2 * h, 3 * h, 6 * h, 12 * h, d, 2 * d, 7 * d, 14 * d, 28 * d, 91 * d, 364 * d];

/** The smallest step that leaves at most `most` marks. */
export const stepFor = (span: number, most: number): number => steps.find((step) => span / step <= Math.max(1, most)) ?? 364 * d;

/** Marks between `from` and `to` (ms), `most` at most: round times in the reader's zone, or round durations since `since`. */
export function ticks(from: number, to: number, most: number, scale: { zone: Zone } | { since: number }): Tick[] {
  if (!(to > from)) return [];
  const step = stepFor(to - from, most);
  const base = "since" in scale ? scale.since : -offset(from, scale.zone);
  const out: Tick[] = [];
  for (let at = base + Math.ceil((from - base) / step) * step; at <= to; at += step) out.push({ at, label: "since" in scale ? relative(at - scale.since, step) : clock(at, step, scale.zone) });
  return out;
}

/** How far a zone's clocks are ahead of UTC at a time, in ms. */
export function offset(at: number, zone: Zone): number {
  const p = Object.fromEntries(
    new Intl.DateTimeFormat("en-GB", { timeZone: zoneName(zone), hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" })
      .formatToParts(at)
      .map((part) => [part.type, Number(part.value)]),
  );
  const wall = Date.UTC(p["year"] ?? 0, (p["month"] ?? 1) - 1, p["day"], p["hour"], p["minute"], p["second"]);
  return wall - Math.floor(at / 1000) * 1000;
}

function clock(at: number, step: number, zone: Zone): string {
  // The offset at this very time: a day on which clocks change has two.
  const iso = new Date(at + offset(at, zone)).toISOString();
  if (step >= d) return iso.slice(5, 10);
  if (step >= m) return iso.slice(11, 16) === "00:00" ? iso.slice(5, 10) : iso.slice(11, 16);
  return step >= s ? iso.slice(11, 19) : iso.slice(11, 23);
}

function relative(ms: number, step: number): string {
  if (ms === 0) return "0";
  const sign = ms < 0 ? "−" : "+";
  const abs = Math.abs(ms);
  return sign + (step < s ? (abs < s ? `${abs}ms` : `${(abs / s).toFixed(step < 10 ? 3 : step < 100 ? 2 : 1)}s`) : duration(abs / s).replace(/ 00[sm]$/, "").replace(/\.0s$/, "s"));
}
