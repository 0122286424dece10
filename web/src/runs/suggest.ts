import { quote, takesSeveral, terms, valuesOf } from "./query";

/** What values there are to suggest. Lists that are not known are empty. */
export interface Known {
  flows: readonly string[];
  queues: readonly string[];
  triggers: readonly string[];
  /** Searchable params of the flows that the search names. */
  params: readonly string[];
  /** Tags of the runs that are shown, `name=value`. */
  tags: readonly string[];
}

/** One suggestion: it replaces the characters from `from` to `to`. */
export interface Suggestion {
  from: number;
  to: number;
  text: string;
  /** What it is or means. */
  hint: string;
  /** The term is not finished: suggestions go on after it. */
  more: boolean;
}

const states: Readonly<Record<string, string>> = {
  open: "running and cancelling",
  running: "not decided yet",
  cancelling: "being cancelled",
  ended: "succeeded, failed and cancelled",
  succeeded: "ended well",
  failed: "ended badly",
  cancelled: "ended by an operator",
};

const ages: Readonly<Record<string, string>> = { "1h": "the last hour", "24h": "the last day", "7d": "the last week", "30d": "the last 30 days" };

const levels: Readonly<Record<string, string>> = { P0: "most urgent", P1: "", P2: "unless said", P3: "", P4: "", P5: "least urgent" };

/** The keys, with what they are about. */
export const keyHints: Readonly<Record<string, string>> = {
  flow: "the flow’s name; several with commas",
  state: "running, failed, open, ended, …; several with commas",
  since: "created at or after: 24h, 7d, 2026-11-01",
  until: "created before: 24h, 7d, 2026-11-01",
  queue: "the queue’s name; several with commas",
  level: "P0 to P5; several with commas",
  trigger: "what started it: api, cli, page, schedule, child",
  tag: "tag:name=value",
  version: "the flow’s content version, or its beginning",
  parent: "the id of a run whose sub-flows have started them",
  "param.": "param.name:value, for params that the flow declares searchable",
};

const most = 12;

/** What to suggest for the term that ends or holds the caret: keys, then values, the best first. */
export function suggest(q: string, caret: number, known: Known): Suggestion[] {
  const term = terms(q).find((t) => t.from <= caret && caret <= t.to);
  if (term?.key) {
    const from = caret >= term.last ? term.last : term.from + term.key.length + 1;
    const written = q.slice(from, Math.max(caret, from)).replaceAll('"', "");
    const taken = new Set(takesSeveral(term.key) ? term.values.slice(0, -1) : []);
    return rank(valuesFor(term.key, known), written)
      .filter(([value]) => !taken.has(value))
      .slice(0, most)
      .map(([value, hint]) => ({ from, to: term.to, text: quote(value, takesSeveral(term.key)), hint, more: false }));
  }
  const from = term?.from ?? caret;
  const to = term?.to ?? caret;
  const written = q.slice(from, caret);
  const used = new Set(terms(q).map((t) => t.key));
  const keys: [string, string][] = Object.entries(keyHints)
    .filter(([key]) => key !== "param." && (key === "tag" || !used.has(key)))
    .map(([key, hint]) => [`${key}:`, hint]);
  for (const name of known.params) if (!used.has(`param.${name}`)) keys.push([`param.${name}:`, "a searchable param"]);
  const found: Suggestion[] = rank(keys, written).map(([text, hint]) => ({ from, to, text, hint, more: true }));
  if (written.length < 2) return found.slice(0, most);
  // Whoever types a value without its key is told the term that it belongs to.
  for (const key of ["state", "flow", "queue", "trigger"]) {
    if (used.has(key)) continue;
    for (const [value, hint] of rank(valuesFor(key, known), written)) found.push({ from, to, text: `${key}:${quote(value, true)}`, hint, more: false });
  }
  return found.slice(0, most);
}

const plain = (values: readonly string[]): [string, string][] => values.map((v) => [v, ""]);

function valuesFor(key: string, known: Known): [string, string][] {
  switch (key) {
    case "flow":
      return plain(known.flows);
    case "queue":
      return plain(known.queues);
    case "trigger":
      return plain(known.triggers);
    case "tag":
      return plain(known.tags);
    case "state":
      return Object.entries(states);
    case "level":
      return Object.entries(levels);
    case "since":
    case "until":
      return Object.entries(ages);
    default:
      return [];
  }
}

/** Those that hold what was written, those that begin with it first, otherwise in their order. */
function rank(values: readonly [string, string][], written: string): [string, string][] {
  const sought = written.toLowerCase();
  const begins = values.filter(([v]) => v.toLowerCase().startsWith(sought));
  const holds = values.filter(([v]) => !v.toLowerCase().startsWith(sought) && v.toLowerCase().includes(sought));
  return [...begins, ...holds];
}

/** The search after a suggestion was taken, and where the caret stands then. A finished term is followed by a blank. */
export function accept(q: string, s: Suggestion): { q: string; caret: number } {
  const rest = q.slice(s.to);
  const end = s.more ? "" : rest.startsWith(" ") ? "" : " ";
  const text = q.slice(0, s.from) + s.text + end;
  return { q: text + rest, caret: text.length + (s.more || end ? 0 : 1) };
}

/** The flows whose searchable params may be asked for: those that the search names, a few at most. */
export const namedFlows = (q: string): string[] => valuesOf(q, "flow").slice(0, 5);
