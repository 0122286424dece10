import type { Schemas } from "../api/client";

/** A line of a log with a key that stays the same in every reading, for permalinks. */
export type Line = Schemas["LogLine"] & { key: string };

/** The most lines that the page keeps. */
export const mostLines = 50_000;

/** The lines of a log that were read, in the order of time. */
export interface Lines {
  list: readonly Line[];
  /** Older lines that were let go, because there were too many. */
  gone: number;
}

export const noLines: Lines = { list: [], gone: 0 };

/**
 * Adds a page to what was read. Lines that come late find their place by their time. Lines of one time are told apart by their task and by how many
 * of it bear that time.
 */
export function add(lines: Lines, page: readonly Schemas["LogLine"][], most = mostLines): Lines {
  if (page.length === 0) return lines;
  const twins = new Map<string, number>();
  const newest = lines.list.at(-1);
  const late = newest !== undefined && page.some((l) => compare(l.at, newest.at) <= 0);
  if (late) for (const l of lines.list) twins.set(base(l), (twins.get(base(l)) ?? 0) + 1);
  const fresh = page.map((l): Line => {
    const n = twins.get(base(l)) ?? 0;
    twins.set(base(l), n + 1);
    return { ...l, key: n === 0 ? base(l) : `${base(l)}+${n}` };
  });
  const list = lines.list.concat(fresh);
  // Sorting keeps the order of equals, which is that of arrival.
  if (late || fresh.some((l, i) => i > 0 && compare(l.at, fresh[i - 1]?.at ?? "") < 0)) list.sort((a, b) => compare(a.at, b.at));
  const over = Math.max(0, list.length - most);
  return { list: over > 0 ? list.slice(over) : list, gone: lines.gone + over };
}

/** Compares two times in UTC of the API. They have as many digits as they need, so `…:01Z` comes before `…:01.5Z`, other than as text. */
export function compare(a: string, b: string): number {
  const x = a.replace("Z", "");
  const y = b.replace("Z", "");
  return x < y ? -1 : x > y ? 1 : 0;
}

const base = (l: Schemas["LogLine"]): string => `${l.at}@${l.stage}/${l.shard}/${l.attempt}`;

/** Levels, the least first. */
export const levels = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof levels)[number];

/** A search param as a level; anything else is `debug`, which is all. */
export const levelOf = (text: string | undefined): Level => levels.find((l) => l === text) ?? "debug";

/** A value of an attribute as it stands in a line. */
export const attributeText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** A line's attributes as they stand behind its message: `page=3 rows=120`. */
export const attributesText = (l: Pick<Schemas["LogLine"], "attributes">): string =>
  Object.entries(l.attributes ?? {})
    .map(([k, v]) => `${k}=${/\s|^$/.test(attributeText(v)) ? JSON.stringify(attributeText(v)) : attributeText(v)}`)
    .join(" ");

/** A line as text, to copy: time, level, task, message, attributes. */
export function lineText(l: Schemas["LogLine"]): string {
  const dropped = l.dropped ? `${l.at} … ${l.dropped} lines were dropped here\n` : "";
  return `${dropped}${[l.at, l.level.toUpperCase().padEnd(5), `${l.stage}[${l.shard}]#${l.attempt}`, l.message, attributesText(l)].filter(Boolean).join(" ")}`;
}
