/** Searches with names, kept in this browser. */

/** A search with a name. */
export interface View {
  name: string;
  q: string;
  /** It comes with the page and can be neither renamed nor deleted. */
  fixed?: boolean;
}

/** Views that everybody has. `since` of "today" is the day's beginning in the reader's zone, as the search language wants it. */
export const fixedViews = (today: Date): View[] => [
  { name: "All", q: "", fixed: true },
  { name: "Running", q: "state:open", fixed: true },
  { name: "Failed today", q: `state:failed since:${today.toISOString().replace(".000Z", "Z")}`, fixed: true },
  { name: "Failed this week", q: "state:failed since:7d", fixed: true },
];

const key = "ax.views";
const mostViews = 50;

/** The views that somebody stored here; none if there are none or they cannot be read. */
export function readViews(storage: Pick<Storage, "getItem">): View[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(key) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isView).slice(0, mostViews) : [];
  } catch {
    return [];
  }
}

/** Stores the views. False if this browser keeps nothing. */
export function storeViews(storage: Pick<Storage, "setItem">, views: readonly View[]): boolean {
  try {
    storage.setItem(key, JSON.stringify(views.map(({ name, q }) => ({ name, q }))));
    return true;
  } catch {
    return false;
  }
}

const isView = (v: unknown): v is View => typeof v === "object" && v !== null && "name" in v && "q" in v && typeof v.name === "string" && typeof v.q === "string" && v.name !== "";

/** What is wrong with a name for a view, or nothing. `but` is the view that is renamed. */
export function nameFault(name: string, taken: readonly View[], but?: string): string | undefined {
  const wanted = name.trim();
  if (wanted === "") return "Give it a name.";
  if (wanted.length > 60) return `The name is ${wanted.length} characters long; 60 are allowed.`;
  if (wanted !== but && taken.some((v) => v.name.toLowerCase() === wanted.toLowerCase())) return `There is a view “${wanted}” already.`;
  if (taken.length >= mostViews && but === undefined) return `There are ${mostViews} views already: delete one first.`;
  return undefined;
}

/** The views after one was added, renamed or deleted. */
export const added = (views: readonly View[], name: string, q: string): View[] => [...views, { name: name.trim(), q }];
export const renamed = (views: readonly View[], from: string, to: string): View[] => views.map((v) => (v.name === from ? { ...v, name: to.trim() } : v));
export const removed = (views: readonly View[], name: string): View[] => views.filter((v) => v.name !== name);

/** The day's beginning in a zone; undefined is the browser's own. */
export function startOfDay(now: Date, timeZone: string | undefined): Date {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZone, hourCycle: "h23", hour: "2-digit", minute: "2-digit", second: "2-digit" }).formatToParts(now);
  const part = (type: string): number => Number(parts.find((p) => p.type === type)?.value ?? 0);
  const gone = (part("hour") * 60 + part("minute")) * 60 + part("second");
  return new Date(Math.floor(now.getTime() / 1000) * 1000 - gone * 1000);
}
