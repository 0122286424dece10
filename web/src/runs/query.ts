/**
 * The search language for runs, as the API reads it (`q` of listRuns): terms such as `state:failed,cancelled` parted by blanks. This
 * reads what somebody has typed so far and never refuses it; what is wrong with a search the API says.
 */

/** A term of a search and where it stands in it. */
export interface Term {
  /** Where it begins, and the first place after it. */
  from: number;
  to: number;
  /** What stands before the colon, such as `state` or `param.date`; empty for a word alone, which is a run's id. */
  key: string;
  /** Its values without quotes. A term has at least one, which may be empty. */
  values: string[];
  /** Where its last value begins, its quote included. */
  last: number;
  /** Whether its quotes are closed. */
  closed: boolean;
}

const blank = /\s/u;

/** The terms of a search, in the order that they stand in. */
export function terms(q: string): Term[] {
  const found: Term[] = [];
  let at = 0;
  while (at < q.length) {
    if (blank.test(q.charAt(at))) {
      at++;
      continue;
    }
    const term = read(q, at);
    found.push(term);
    at = term.to;
  }
  return found;
}

function read(q: string, from: number): Term {
  let at = from;
  let key = "";
  const colon = /^[^:"\s]*:/u.exec(q.slice(from));
  if (colon) {
    key = colon[0].slice(0, -1);
    at += colon[0].length;
  }
  const values = [""];
  let last = at;
  let quoted = false;
  for (; at < q.length; at++) {
    const c = q.charAt(at);
    if (quoted) {
      if (c === '"') quoted = false;
      else if (c === "\\" && at + 1 < q.length) values[values.length - 1] += q.charAt(++at);
      else values[values.length - 1] += c;
    } else if (c === '"') quoted = true;
    else if (blank.test(c)) break;
    else if (c === ",") {
      values.push("");
      last = at + 1;
    } else values[values.length - 1] += c;
  }
  return { from, to: at, key, values, last, closed: !quoted };
}

/** Keys whose values may be alternatives with commas; in the others a comma is a part of the value. */
const lists: ReadonlySet<string> = new Set(["flow", "state", "queue", "trigger", "level"]);

/** Whether the key takes several values. */
export const takesSeveral = (key: string): boolean => lists.has(key);

/** A value as it has to be written after its key, in quotes where it must be. */
export function quote(value: string, several: boolean): string {
  if (value !== "" && !/[\s"\\]/u.test(value) && !(several && value.includes(","))) return value;
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** A term as it is written. */
export const write = (key: string, values: readonly string[]): string => `${key}:${values.map((v) => quote(v, takesSeveral(key))).join(",")}`;

/** The values of a key in a search; none if it is not there. What takes one value has it whole, commas included. */
export function valuesOf(q: string, key: string): string[] {
  const term = terms(q).find((t) => t.key === key);
  if (!term) return [];
  const values = takesSeveral(key) ? term.values.filter((v) => v !== "") : [term.values.join(",")];
  return values.filter((v) => v !== "");
}

/** The search with these values for a key: its term is changed where it stands, added at the end, or taken out if there are no values. */
export function withValues(q: string, key: string, values: readonly string[]): string {
  const all = terms(q);
  const first = all.find((t) => t.key === key);
  if (!first) return values.length === 0 ? q.trim() : `${q.trim()} ${write(key, values)}`.trim();
  const kept = all.flatMap((t) => (t.key !== key ? [q.slice(t.from, t.to)] : t === first && values.length > 0 ? [write(key, values)] : []));
  return kept.join(" ");
}

/** The search with a value added to a key's alternatives, or taken out if it is there. */
export function toggled(q: string, key: string, value: string): string {
  const values = valuesOf(q, key);
  return withValues(q, key, values.includes(value) ? values.filter((v) => v !== value) : takesSeveral(key) ? [...values, value] : [value]);
}

/** The search without one of its terms, by its place in `terms`. */
export const without = (q: string, place: number): string =>
  terms(q)
    .filter((_, i) => i !== place)
    .map((t) => q.slice(t.from, t.to))
    .join(" ");
