import { zoneName, type Zone } from "../ui/zone";

const known = new Map<Zone, Intl.DateTimeFormat>();

/** A line's time of day to the millisecond in the reader's zone: thousands of lines share one format. */
export function timeOf(at: string, zone: Zone): string {
  let format = known.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", { timeZone: zoneName(zone), hourCycle: "h23", hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });
    known.set(zone, format);
  }
  return format.format(new Date(at));
}
