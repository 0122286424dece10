import type { Schemas } from "../../api/client";

/** A run with what is known of how its stages went. */
export interface Side {
  detail: Schemas["RunDetail"];
  flow?: Schemas["Flow"] | undefined;
  timeline?: Schemas["Timeline"] | undefined;
}

/** A stage in one of the runs. Durations are in ms. */
export interface StageSide {
  status: Schemas["StageStatus"];
  /** From when it was ready to its end, or to when the run was read; undefined if it did not run. */
  took: number | undefined;
  /** From when it was ready to when the first of it began. */
  queued: number | undefined;
  /** Attempts that failed; undefined where it is not known. */
  failed: number | undefined;
}

/** A stage in both runs; one that only one of them has stands alone. */
export interface StagePair {
  name: string;
  before: StageSide | undefined;
  after: StageSide | undefined;
  /** How much longer it took, in ms; undefined unless it took time in both. */
  difference: number | undefined;
  /** Its kind, rule, upstreams or policies differ. */
  changed: string[];
}

const ms = (at: string | undefined): number | undefined => (at === undefined ? undefined : Date.parse(at));

/** How long a run took, or had taken when it was read, in ms. */
export const tookOf = (d: Schemas["RunDetail"]): number => Date.parse(d.run.finished_at ?? d.at) - Date.parse(d.run.created_at);

const bad = (o: Schemas["Outcome"] | undefined): boolean => o !== undefined && o !== "succeeded" && o !== "not_needed";

function side({ detail, timeline }: Side, name: string): StageSide | undefined {
  const status = detail.stages.find((s) => s.name === name);
  if (!status) return undefined;
  const read = timeline?.stages.find((s) => s.name === name);
  const line = read?.generation === status.generation ? read : undefined;
  const ready = ms(status.ready_at);
  const began = ms(line?.plan?.started_at ?? line?.attempts?.[0]?.started_at ?? line?.started_at);
  return {
    status,
    took: ready === undefined || status.state === "skipped" || status.state === "upstream_failed" ? undefined : Math.max(0, (ms(status.finished_at) ?? ms(detail.run.finished_at) ?? Date.parse(detail.at)) - ready),
    queued: ready === undefined || began === undefined ? undefined : Math.max(0, began - ready),
    failed: line?.density ? line.density.failed.reduce((a, b) => a + b, 0) : line?.attempts ? line.attempts.filter((a) => bad(a.outcome)).length : undefined,
  };
}

/** The stages of both runs, what differs most in time first; then those that only one has; then those that took no time in one of them. */
export function pairs(before: Side, after: Side): StagePair[] {
  const names = [...new Set([...after.detail.stages, ...before.detail.stages].map((s) => s.name))];
  const graphs = [before, after].map((s) => new Map(s.flow?.graph.stages.map((g) => [g.name, g])));
  const list = names.map((name): StagePair => {
    const a = side(before, name);
    const b = side(after, name);
    const x = graphs[0]?.get(name);
    const y = graphs[1]?.get(name);
    return { name, before: a, after: b, difference: a?.took === undefined || b?.took === undefined ? undefined : b.took - a.took, changed: x && y ? changes(x, y) : [] };
  });
  // Sorting keeps equals in the order of the graph.
  return list.sort((a, b) => Math.abs(b.difference ?? -1) - Math.abs(a.difference ?? -1));
}

/** What of a stage's declaration differs between two versions, in words. */
export function changes(before: Schemas["GraphStage"], after: Schemas["GraphStage"]): string[] {
  const out: string[] = [];
  const gone = before.upstreams.filter((u) => !after.upstreams.includes(u));
  const come = after.upstreams.filter((u) => !before.upstreams.includes(u));
  if (come.length > 0) out.push(`waits for ${come.join(", ")} too`);
  if (gone.length > 0) out.push(`no longer waits for ${gone.join(", ")}`);
  const plain: [string, string | undefined, string | undefined][] = [
    ["kind", before.kind, after.kind],
    ["trigger rule", before.rule, after.rule],
    ["queue", before.queue, after.queue],
    ["level", before.level, after.level],
    ["limit", before.limit?.toString(), after.limit?.toString()],
    ["attempts", String(before.retry.max_attempts), String(after.retry.max_attempts)],
    ["execution time-out", seconds(before.timeout.execution_s), seconds(after.timeout.execution_s)],
    ["needs", before.requires?.join(", "), after.requires?.join(", ")],
  ];
  for (const [name, a, b] of plain) if (a !== b) out.push(`${name} ${a ?? "none"} → ${b ?? "none"}`);
  return out;
}

const seconds = (s: number | undefined): string | undefined => (s === undefined ? undefined : `${s}s`);
