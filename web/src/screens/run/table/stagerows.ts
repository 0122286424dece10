import type { Schemas } from "../../../api/client";
import type { Part } from "../criticalpath";
import { ms } from "../runparts";
import { lettersOf } from "../../../ui/states";

/** A stage as the table shows it. Times are in ms. */
export interface StageRow {
  status: Schemas["StageStatus"];
  name: string;
  /** Its place in the graph. */
  index: number;
  rule: string;
  ready: number | undefined;
  end: number | undefined;
  /** From when it was ready to its end, or to now. */
  took: number | undefined;
  /** Shards that were tried again; undefined until the timeline is read. */
  retries: number | undefined;
  /** Shards ended a second, now; of a stage that has ended, on average. */
  rate: number | undefined;
  part: Part | undefined;
}

/** What the table's rows are made of. */
export interface Source {
  detail: Schemas["RunDetail"];
  flow: Schemas["Flow"];
  timeline?: Schemas["Timeline"] | undefined;
  rates: ReadonlyMap<string, number>;
  parts: ReadonlyMap<string, Part>;
  now: number;
}

/** Attempts beyond the first of each shard. */
export function retriesOf(line: Schemas["StageTimeline"] | undefined, status: Schemas["StageStatus"]): number | undefined {
  if (!line || line.generation !== status.generation) return undefined;
  if (line.density) return Math.max(0, line.density.failed.reduce((a, b) => a + b, 0) - status.dead);
  const newest = line.attempts?.at(-1);
  return newest ? newest.attempt - 1 : status.kind === "single" ? 0 : undefined;
}

/** The rows in the order of the graph. */
export function stageRows({ detail, flow, timeline, rates, parts, now }: Source): StageRow[] {
  const graph = new Map(flow.graph.stages.map((g) => [g.name, g]));
  const lines = new Map(timeline?.stages.map((s) => [s.name, s]));
  return detail.stages.map((status, index) => {
    const ready = ms(status.ready_at);
    const end = ms(status.finished_at);
    const took = ready === undefined ? undefined : Math.max(0, (end ?? now) - ready);
    const done = status.succeeded + status.dead;
    const g = graph.get(status.name);
    return {
      status,
      name: status.name,
      index,
      rule: g?.teardown_of ? `teardown of ${g.teardown_of}` : g?.aligned_to ? `aligned to ${g.aligned_to}` : (g?.rule ?? ""),
      ready,
      end,
      took,
      retries: retriesOf(lines.get(status.name), status),
      rate: rates.get(status.name) ?? (end !== undefined && took !== undefined && took > 0 && done > 0 ? (done * 1000) / took : undefined),
      part: parts.get(status.name),
    };
  });
}

/** What rows can be sorted by. */
export const sorts = ["stage", "state", "done", "ready", "flight", "dead", "parked", "retries", "rate", "since", "took", "part"] as const;
export type SortBy = (typeof sorts)[number];

/** How rows are sorted; undefined is the order of the graph. */
export interface Sort {
  by: SortBy;
  desc: boolean;
}

/** Reads a search param such as `took` or `-took`; anything else is the order of the graph. */
export function parseSort(text: string | undefined): Sort | undefined {
  const desc = text?.startsWith("-") ?? false;
  const name = desc ? text?.slice(1) : text;
  const by = sorts.find((s) => s === name);
  return by && { by, desc };
}

/** What a click on a column's head asks for: first the largest (of names: the first), then the other way round, then the graph's order. */
export function nextSort(now: Sort | undefined, by: SortBy): string | undefined {
  const first = by !== "stage" && by !== "state" && by !== "since";
  const text = (desc: boolean) => (desc ? `-${by}` : by);
  if (now?.by !== by) return text(first);
  return now.desc === first ? text(!first) : undefined;
}

const urgency: Record<Schemas["StageState"], number> = { failed: 0, cancelling: 1, running: 2, planning: 3, waiting: 4, upstream_failed: 5, cancelled: 6, skipped: 7, succeeded: 8 };

const value: Record<SortBy, (r: StageRow) => number | string | undefined> = {
  stage: (r) => r.name,
  state: (r) => urgency[r.status.state],
  done: (r) => (r.status.total > 0 ? r.status.succeeded / r.status.total : undefined),
  ready: (r) => r.status.ready,
  flight: (r) => r.status.in_flight,
  dead: (r) => lettersOf(r.status),
  parked: (r) => r.status.parked,
  retries: (r) => r.retries,
  rate: (r) => r.rate,
  since: (r) => r.ready,
  took: (r) => r.took,
  // What is critical counts for more than any slack; among the others less slack counts for more.
  part: (r) => r.part && (r.part.critical ? 1e15 + r.part.added : -r.part.slack),
};

/** The rows in an order. What has no value stands at the end, whichever way; equals stay in the order of the graph. */
export function sortRows(rows: readonly StageRow[], sort: Sort | undefined): readonly StageRow[] {
  if (!sort) return rows;
  const of = value[sort.by];
  return [...rows].sort((a, b) => {
    const x = of(a);
    const y = of(b);
    if (x === undefined || y === undefined) return (x === undefined ? 1 : 0) - (y === undefined ? 1 : 0) || a.index - b.index;
    const order = typeof x === "string" && typeof y === "string" ? x.localeCompare(y) : Number(x) - Number(y);
    return (sort.desc ? -order : order) || a.index - b.index;
  });
}

/** The rows whose name has `find` in it, whatever its case, and whose state is among `states`, if there are any. */
export function filterRows(rows: readonly StageRow[], find: string, states: readonly string[]): readonly StageRow[] {
  const text = find.trim().toLowerCase();
  return text === "" && states.length === 0 ? rows : rows.filter((r) => (text === "" || r.name.toLowerCase().includes(text)) && (states.length === 0 || states.includes(r.status.state)));
}

/** How many stages are in each state, in the order of urgency. */
export function tally(rows: readonly StageRow[]): { state: Schemas["StageState"]; count: number }[] {
  const counts = new Map<Schemas["StageState"], number>();
  for (const r of rows) counts.set(r.status.state, (counts.get(r.status.state) ?? 0) + 1);
  return [...counts].map(([state, count]) => ({ state, count })).sort((a, b) => urgency[a.state] - urgency[b.state]);
}
