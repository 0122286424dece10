import type { Schemas } from "../api/client";
import { terms } from "./query";

type Filter = Schemas["RunFilter"];
type State = Schemas["RunState"];

const open: readonly State[] = ["running", "cancelling"];
const ended: readonly State[] = ["succeeded", "failed", "cancelled"];
const all: ReadonlySet<string> = new Set([...open, ...ended]);

/**
 * What a search is as the filter of verbs on many runs. `cannot` names the terms that such a filter has no word for: with one of them
 * the filter would pick more runs than the search shows, so that there is none.
 */
export function filterOf(q: string, now: Date): { filter: Filter | undefined; cannot: string[] } {
  const filter: Filter = {};
  const cannot: string[] = [];
  const states = new Set<State>();
  for (const t of terms(q)) {
    const one = t.values.join(",");
    switch (t.key) {
      case "flow":
        filter.flows = t.values;
        break;
      case "queue":
        filter.queues = t.values;
        break;
      case "state":
        for (const v of t.values) for (const s of v === "open" ? open : v === "ended" ? ended : isState(v) ? [v] : []) states.add(s);
        filter.states = [...states];
        break;
      case "tag": {
        const cut = one.indexOf("=");
        if (cut > 0) filter.tags = { ...filter.tags, [one.slice(0, cut)]: one.slice(cut + 1) };
        else cannot.push(q.slice(t.from, t.to));
        break;
      }
      case "since":
      case "until": {
        const at = moment(one, now);
        if (at) filter[t.key] = at.toISOString();
        else cannot.push(q.slice(t.from, t.to));
        break;
      }
      default: {
        const run = t.key === "" ? one.toLowerCase() : "";
        if (/^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/u.test(run)) filter.runs = [run];
        else cannot.push(q.slice(t.from, t.to));
      }
    }
  }
  return { filter: cannot.length === 0 && Object.keys(filter).length > 0 ? filter : undefined, cannot };
}

const isState = (v: string): v is State => all.has(v);

const seconds: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1 };

/** The time that `since` and `until` mean: a duration back from now, a date, or a time, in UTC unless it names a zone. */
export function moment(text: string, now: Date): Date | undefined {
  if (/^(\d{1,9}[wdhms])+$/u.test(text)) {
    let ago = 0;
    for (const [, n, unit] of text.matchAll(/(\d+)([wdhms])/gu)) ago += Number(n) * (seconds[unit ?? ""] ?? 0);
    return ago > 0 ? new Date(now.getTime() - ago * 1000) : undefined;
  }
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/u.test(text)) return undefined;
  const zoned = /(Z|[+-]\d{2}:\d{2})$/u.test(text.slice(10));
  const at = new Date(zoned || text.length === 10 ? text : `${text}Z`);
  return Number.isNaN(at.getTime()) ? undefined : at;
}
