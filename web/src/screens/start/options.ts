/** What the form says besides the params, as it was typed. */
export interface Options {
  level: string;
  queue: string;
  key: string;
  tags: string;
  begin: "now" | "after" | "at";
  after: string;
  at: string;
}

/** Options that somebody typed, read; `faults` by the API's field. */
export interface Read {
  level?: string;
  queue?: string;
  key?: string;
  tags?: Record<string, string>;
  delay_s?: number;
  start_at?: string;
  faults: Map<string, string>;
}

/** Reads the options. */
export function readOptions(o: Options): Read {
  const out: Read = { faults: new Map() };
  if (o.level) out.level = o.level;
  if (o.queue.trim()) out.queue = o.queue.trim();
  if (o.key.trim()) out.key = o.key.trim();
  const { tags, fault } = readTags(o.tags);
  if (fault) out.faults.set("/tags", fault);
  else if (Object.keys(tags).length > 0) out.tags = tags;
  if (o.begin === "after") {
    const s = readDuration(o.after);
    if (s === undefined) out.faults.set("/delay_s", "Write a duration such as 90s, 15m, 2h or 1d.");
    else if (s > 0) out.delay_s = s;
  }
  if (o.begin === "at") {
    const at = new Date(o.at);
    if (o.at.trim() === "" || Number.isNaN(at.getTime())) out.faults.set("/start_at", "Write a time such as 2026-11-29T08:00:00Z.");
    else out.start_at = at.toISOString();
  }
  return out;
}

/** Seconds of `90s`, `1h30m`, `1.5h`, or of a number alone; undefined if it is none. */
export function readDuration(text: string): number | undefined {
  const t = text.trim();
  if (/^\d+(\.\d+)?$/u.test(t)) return Number(t);
  if (!/^(\d+(\.\d+)?[dhms]\s*)+$/u.test(t)) return undefined;
  const units: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 };
  let sum = 0;
  for (const [, n, unit] of t.matchAll(/(\d+(?:\.\d+)?)([dhms])/gu)) sum += Number(n) * (units[unit ?? ""] ?? 0);
  return sum;
}

/** Tags, one `name=value` a line or with commas between. */
export function readTags(text: string): { tags: Record<string, string>; fault?: string } {
  const tags: [string, string][] = [];
  const names = new Set<string>();
  for (const part of text.split(/[\n,]/u)) {
    const line = part.trim();
    if (line === "") continue;
    const cut = line.indexOf("=");
    if (cut < 1) return { tags: {}, fault: `“${line}” is no tag: write name=value, one a line.` };
    const name = line.slice(0, cut).trim();
    if (names.has(name)) return { tags: {}, fault: `The tag ${name} stands twice.` };
    names.add(name);
    tags.push([name, line.slice(cut + 1).trim()]);
  }
  return { tags: Object.fromEntries(tags) };
}
