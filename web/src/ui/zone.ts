import { createContext } from "react";
import { pad } from "./format";

/** How times are shown: in UTC, in the browser's zone, or in a named one such as `Europe/Berlin`. */
export type Zone = "utc" | "local" | (string & {});

/** The zone's name for Intl; undefined is the browser's own. */
export const zoneName = (zone: Zone): string | undefined => (zone === "utc" ? "UTC" : zone === "local" ? undefined : zone);

/** The zone that the reader has chosen, and how to choose another. */
export const ZoneContext = createContext<{ zone: Zone; setZone: (zone: Zone) => void }>({ zone: "local", setZone: () => {} });

/** A time as a clock on the wall shows it, each part with all its digits, and the offset: `UTC`, `GMT+5:30`. */
type Wall = { year: string; month: string; day: string; hour: string; minute: string; second: string; offset: string };

/** What `Date` knows by itself: the first use of Intl takes tens of milliseconds, which the first screen should not wait for. */
function plain(at: Date, utc: boolean): Wall {
  const shifted = utc ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  const minutes = utc ? 0 : -at.getTimezoneOffset();
  const rest = Math.abs(minutes) % 60;
  return {
    year: String(shifted.getUTCFullYear()),
    month: pad(shifted.getUTCMonth() + 1),
    day: pad(shifted.getUTCDate()),
    hour: pad(shifted.getUTCHours()),
    minute: pad(shifted.getUTCMinutes()),
    second: pad(shifted.getUTCSeconds()),
    offset: minutes === 0 ? "UTC" : `GMT${minutes < 0 ? "-" : "+"}${Math.floor(Math.abs(minutes) / 60)}${rest === 0 ? "" : `:${pad(rest)}`}`,
  };
}

const formats = new Map<Zone, Intl.DateTimeFormat>();

function parts(at: Date, zone: Zone): Wall {
  if (zone === "utc" || zone === "local") return plain(at, zone === "utc");
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      timeZoneName: "shortOffset",
    });
    formats.set(zone, format);
  }
  const p: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = Object.fromEntries(format.formatToParts(at).map((x) => [x.type, x.value]));
  return { year: p.year ?? "", month: p.month ?? "", day: p.day ?? "", hour: p.hour ?? "", minute: p.minute ?? "", second: p.second ?? "", offset: (p.timeZoneName ?? "").replace(/^GMT(\+0)?$/, "UTC") };
}

/** A time in full: `2026-11-29 14:03:27.120 UTC`, the offset named where it is not UTC. */
export function absolute(at: Date, zone: Zone): string {
  const p = parts(at, zone);
  const ms = String(at.getUTCMilliseconds()).padStart(3, "0");
  return `${p.year}-${p.month}-${p.day} ${p.hour}:${p.minute}:${p.second}.${ms} ${p.offset}`;
}

/** A time as short as it can be told apart from `now`: `14:03:27` today, `11-28 14:03` this year, else `2025-11-28`. */
export function brief(at: Date, now: Date, zone: Zone): string {
  const p = parts(at, zone);
  const n = parts(now, zone);
  if (p.year !== n.year) return `${p.year}-${p.month}-${p.day}`;
  if (p.month === n.month && p.day === n.day) return `${p.hour}:${p.minute}:${p.second}`;
  return `${p.month}-${p.day} ${p.hour}:${p.minute}`;
}
