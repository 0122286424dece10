import type { Schemas } from "../../api/client";

/** What a queue's form holds. undefined is the default; shares are in percent, as people think of them. */
export interface Draft {
  capacity: number | undefined;
  concurrency: number | undefined;
  alert: number | undefined;
  refuse: number | undefined;
  pause: number | undefined;
  resume: number | undefined;
  core: Schemas["Level"];
  low: Schemas["Level"];
  /** Of P0 to P5: all six, or none. */
  weights: readonly (number | undefined)[];
  decay: number | undefined;
}

/** The defaults of a queue's settings (openapi.yaml, QueueConfig), and the engine's weights and decay for queues that say nothing. */
export const defaults = { alert: 60, refuse: 80, pause: 95, resume: 40, core: "P1", low: "P3", weights: [40, 25, 15, 10, 6, 4], decay: 1 / 60 } as const;

const percentOf = (share: number): number => Math.round(share * 1e6) / 1e4;
const unless = <T>(value: T, nothing: T): T | undefined => (value === nothing ? undefined : value);

// 33.3 / 100 is not 0.333: what was not changed must be sent as it was.
const share = (percent: number | undefined): number | undefined => (percent === undefined ? undefined : Math.round(percent * 1e4) / 1e6);

/** The form of a queue as it is. What is as by default stands there as empty, so that the form shows what was decided. */
export const draftOf = (q: Schemas["Queue"]): Draft => ({
  capacity: unless(q.capacity, 0),
  concurrency: unless(q.concurrency, 0),
  alert: unless(percentOf(q.alert_at), defaults.alert),
  refuse: unless(percentOf(q.refuse_at), defaults.refuse),
  pause: unless(percentOf(q.pause_at), defaults.pause),
  resume: unless(percentOf(q.resume_at), defaults.resume),
  core: q.core_level,
  low: q.low_level,
  weights: q.weights?.length === 6 ? q.weights : [undefined, undefined, undefined, undefined, undefined, undefined],
  decay: q.decay,
});

/** The body that makes the queue so. `version` is the one that was read; a queue that nobody has configured has none. */
export function bodyOf(d: Draft, version: number): Schemas["QueueConfig"] {
  const weights = d.weights.every((w) => w === undefined) ? undefined : d.weights.map((w) => w ?? 0);
  const body = {
    capacity: d.capacity,
    concurrency: d.concurrency,
    alert_at: share(d.alert),
    refuse_at: share(d.refuse),
    pause_at: share(d.pause),
    resume_at: share(d.resume),
    core_level: unless<Schemas["Level"]>(d.core, defaults.core),
    low_level: unless<Schemas["Level"]>(d.low, defaults.low),
    weights,
    decay: d.decay,
    version: version > 0 ? version : undefined,
  };
  // Only what was left out takes its default; the cast is over the undefined ones, which are gone.
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Schemas["QueueConfig"];
}

/** What is wrong with the form before the API is asked; the API checks the rest. */
export function fault(d: Draft): string | undefined {
  const given = d.weights.filter((w) => w !== undefined).length;
  return given > 0 && given < 6 ? "Give all six weights, or none." : undefined;
}

/** What is wrong with one of the form's fields, by the JSON pointer that the API names. Faults of one weight are the weights'. */
export function errorOf(errors: ReadonlyMap<string, string>, field: string): string | undefined {
  for (const [pointer, detail] of errors) if (pointer === `/${field}` || pointer.startsWith(`/${field}/`)) return detail;
  return undefined;
}
