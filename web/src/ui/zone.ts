import { createContext } from "react";

/** How times are shown: in UTC, in the browser's zone, or in a named one such as `Europe/Berlin`. */
export type Zone = "utc" | "local" | (string & {});

/** The zone's name for Intl; undefined is the browser's own. */
export const zoneName = (zone: Zone): string | undefined => (zone === "utc" ? "UTC" : zone === "local" ? undefined : zone);

/** The zone that the reader has chosen, and how to choose another. */
export const ZoneContext = createContext<{ zone: Zone; setZone: (zone: Zone) => void }>({ zone: "local", setZone: () => {} });

const parts = (at: Date, zone: Zone): Record<string, string> =>
  Object.fromEntries(
    new Intl.DateTimeFormat("en-GB", {
      timeZone: zoneName(zone),
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      timeZoneName: "shortOffset",
    })
      .formatToParts(at)
      .map((p) => [p.type, p.value]),
  );

/** A time in full: `2026-11-29 14:03:27.120 UTC`, the offset named where it is not UTC. */
export function absolute(at: Date, zone: Zone): string {
  const p = parts(at, zone);
  const ms = String(at.getUTCMilliseconds()).padStart(3, "0");
  return `${p["year"]}-${p["month"]}-${p["day"]} ${p["hour"]}:${p["minute"]}:${p["second"]}.${ms} ${zone === "utc" ? "UTC" : p["timeZoneName"]}`;
}

/** A time as short as it can be told apart from `now`: `14:03:27` today, `11-28 14:03` this year, else `2025-11-28`. */
export function brief(at: Date, now: Date, zone: Zone): string {
  const p = parts(at, zone);
  const n = parts(now, zone);
  if (p["year"] !== n["year"]) return `${p["year"]}-${p["month"]}-${p["day"]}`;
  if (p["month"] === n["month"] && p["day"] === n["day"]) return `${p["hour"]}:${p["minute"]}:${p["second"]}`;
  return `${p["month"]}-${p["day"]} ${p["hour"]}:${p["minute"]}`;
}
