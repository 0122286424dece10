import type { Schemas } from "../../../api/client";
import type { Part } from "../criticalpath";
import { ms } from "../runparts";

/** What a stage did for a while: `waiting` for upstreams, `queued` (ready, no worker), `planning` its shards, `running`, `backing off` before a retry. */
export type Phase = "waiting" | "queued" | "planning" | "running" | "backing off";

/** A bar of a row, in ms. */
export interface Bar {
  phase: Phase;
  from: number;
  to: number;
  /** It goes on: `to` is now. */
  open?: boolean;
  /** How the attempt ended. */
  outcome?: Schemas["Outcome"];
  attempt?: number;
}

/** A stage's row of the chart. Times are in ms. */
export interface Row {
  name: string;
  status: Schemas["StageStatus"];
  bars: Bar[];
  /** From when it was ready to its end, or now. */
  ready?: number;
  end?: number;
  started?: number;
  /** How many shards ran, step by step, and what failed. */
  density?: { from: number; step: number; running: readonly number[]; failed: readonly number[]; peak: number };
  /** There were more attempts than were read. */
  partial: boolean;
  part?: Part;
  /** How long it usually takes from when it is ready, in ms. */
  usual?: number;
}

/** In which order rows stand. */
export type Order = "graph" | "start" | "duration";

/** What rows are made of. `timeline` and `usual` add detail where they have been read. */
export interface Source {
  detail: Schemas["RunDetail"];
  timeline?: Schemas["Timeline"] | undefined;
  usual?: Schemas["RunUsual"] | undefined;
  parts: ReadonlyMap<string, Part>;
  now: number;
}

/** The rows of the chart, in the order of the run's graph. */
export function rows({ detail, timeline, usual, parts, now }: Source): Row[] {
  const lines = new Map(timeline?.stages.map((s) => [s.name, s]));
  const usually = new Map(usual?.stages.map((s) => [s.stage, s.p50_s * 1000]));
  const over = ms(detail.run.finished_at);
  return detail.stages.map((status) => {
    const line = lines.get(status.name);
    return row(status, line?.generation === status.generation ? line : undefined, {
      created: Date.parse(detail.run.created_at),
      until: over ?? now,
      open: over === undefined,
      part: parts.get(status.name),
      usual: usually.get(status.name),
    });
  });
}

interface Around {
  created: number;
  /** The run's end, or now. */
  until: number;
  /** The run goes on. */
  open: boolean;
  part: Part | undefined;
  usual: number | undefined;
}

function row(status: Schemas["StageStatus"], line: Schemas["StageTimeline"] | undefined, around: Around): Row {
  const { created, until, open } = around;
  const ready = ms(status.ready_at ?? line?.ready_at);
  const end = ms(status.finished_at ?? line?.finished_at);
  const attempts = (line?.attempts ?? []).map((a) => ({ ...a, ready: Date.parse(a.ready_at), start: Date.parse(a.started_at), end: ms(a.finished_at) }));
  const begun = status.in_flight + status.succeeded + status.dead > 0 || end !== undefined;
  // Without detail of attempts the most that is known of a stage that has begun is when it was ready.
  const detailed = line?.started_at !== undefined || attempts.length > 0 || line?.plan !== undefined;
  const started = ms(line?.started_at) ?? attempts[0]?.start ?? (begun && !detailed ? ready : undefined);
  const bars: Bar[] = [];
  const add = (phase: Phase, from: number | undefined, to: number | undefined, more: Partial<Bar> = {}) => {
    const stop = to ?? end ?? until;
    if (from === undefined || stop < from || (stop === from && phase !== "running")) return;
    bars.push({ phase, from, to: stop, ...(to === undefined && end === undefined && open ? { open: true } : {}), ...more });
  };
  const began = ms(line?.waiting_from) ?? created;
  if (ready === undefined || ready > began) add("waiting", began, ready);
  if (ready !== undefined) {
    if (attempts.length > 0) {
      let last = ready;
      for (const a of attempts) {
        if (a.start > Math.max(last, a.ready)) add("queued", Math.max(last, a.ready), a.start);
        add("running", a.start, a.end, { attempt: a.attempt, ...(a.outcome ? { outcome: a.outcome } : {}) });
        last = a.end ?? until;
      }
      for (const b of line?.backing_off ?? []) add("backing off", Date.parse(b.from), Date.parse(b.until));
    } else {
      const plan = line?.plan;
      const planned = plan ? ms(plan.finished_at) : undefined;
      if (plan) {
        add("queued", Date.parse(plan.ready_at), Date.parse(plan.started_at));
        add("planning", Date.parse(plan.started_at), planned, plan.outcome ? { outcome: plan.outcome } : {});
      }
      if (!plan || planned !== undefined) {
        add("queued", planned ?? ready, started);
        if (started !== undefined) add("running", started, end);
      }
    }
  }
  const d = line?.density;
  const peak = d ? Math.max(0, ...d.running) : 0;
  return {
    name: status.name,
    status,
    bars: bars.sort((a, b) => a.from - b.from),
    partial: line?.partial ?? false,
    ...(ready === undefined ? {} : { ready }),
    ...(end === undefined ? {} : { end }),
    ...(started === undefined ? {} : { started }),
    ...(d && d.running.length > 0 ? { density: { from: Date.parse(d.from), step: d.step_s * 1000, running: d.running, failed: d.failed, peak } } : {}),
    ...(around.part ? { part: around.part } : {}),
    ...(around.usual === undefined ? {} : { usual: around.usual }),
  };
}

/** How long a stage took from when it was ready, or has taken until `now`, in ms. */
export const took = (r: Row, now: number): number | undefined => (r.ready === undefined ? undefined : (r.end ?? now) - r.ready);

/** The rows in an order. Stages that have not begun stand at the end, in the order of the graph. */
export function sorted(list: readonly Row[], order: Order, now: number): readonly Row[] {
  if (order === "graph") return list;
  const key = order === "start" ? (r: Row) => r.ready ?? Infinity : (r: Row) => -(took(r, now) ?? -Infinity);
  return list.map((r, i) => ({ r, i, k: key(r) })).sort((a, b) => (a.k === b.k ? a.i - b.i : a.k - b.k)).map(({ r }) => r);
}
