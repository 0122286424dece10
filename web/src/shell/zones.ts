import type { Zone } from "../ui/zone";

/** A zone in a word: UTC, local time, Berlin. */
export const zoneText = (zone: Zone): string => (zone === "utc" ? "UTC" : zone === "local" ? "local time" : (zone.split("/").at(-1) ?? zone).replaceAll("_", " "));

/** A zone's offset at a time: `+02:00`. */
export function offset(zone: string, at: Date): string {
  const text = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" }).formatToParts(at).find((p) => p.type === "timeZoneName")?.value ?? "";
  return text === "GMT" ? "+00:00" : text.replace("GMT", "");
}

/** The zones whose name holds every word that was typed, at most so many. */
export function findZones(typed: string, zones: readonly string[], most: number): string[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return zones.filter((z) => words.every((w) => z.toLowerCase().replaceAll("_", " ").includes(w))).slice(0, most);
}
