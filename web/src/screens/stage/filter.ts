import { colorings, type Coloring, type Filter } from "./heat/look";

/** What the address says of the map, each a search param. */
export interface MapSearch {
  color?: string | undefined;
  order?: string | undefined;
  state?: string | undefined;
  worker?: string | undefined;
  attempt?: string | undefined;
  took?: string | undefined;
}

/** The orders of cells. */
export const orders = ["index", "start", "duration"] as const;
export type OrderBy = (typeof orders)[number];

export const coloringOf = (s: MapSearch): Coloring => colorings.find((c) => c === s.color) ?? "state";
export const orderOf = (s: MapSearch): OrderBy => orders.find((o) => o === s.order) ?? "index";

/** The filter of an address. What cannot be read restricts nothing. */
export function filterOf(s: MapSearch): Filter {
  const out: Filter = {};
  if (s.state) out.states = new Set(s.state.split(",").map((name) => name.trim()));
  if (s.worker) out.worker = s.worker;
  const attempt = Number(s.attempt);
  if (s.attempt && Number.isInteger(attempt) && attempt >= 0) out.attempt = attempt;
  const took = /^(\d+)-(\d*)$/.exec(s.took ?? "");
  if (took) out.took = [Number(took[1]), took[2] ? Number(took[2]) : Infinity];
  return out;
}

/** `took` of the address for durations from `lo` up to `hi`, in ms. */
export const tookText = (lo: number, hi: number): string => `${Math.round(lo)}-${hi === Infinity ? "" : Math.round(hi)}`;

/** A list with commas that has one item more, or one less if it had it; undefined for none. */
export function toggledIn(list: string | undefined, item: string): string | undefined {
  const items = (list ?? "").split(",").filter((i) => i !== "");
  const next = items.includes(item) ? items.filter((i) => i !== item) : [...items, item];
  return next.length > 0 ? next.join(",") : undefined;
}
