import type { Schemas } from "../client";

type Detail = Schemas["RunDetail"];
type Live = Schemas["LiveRun"];

/**
 * Returns the run with what a frame says of it. Counters in frames are absolute, so the same frame may come twice. Stages that did not
 * change stay the same objects, so that what shows them is not drawn again.
 */
export function merge(detail: Detail, live: Live): Detail {
  const { state, finished_at, paused } = live;
  const run =
    state === undefined && finished_at === undefined && paused === undefined
      ? detail.run
      : { ...detail.run, ...(state === undefined ? {} : { state }), ...(finished_at === undefined ? {} : { finished_at }), ...(paused === undefined ? {} : { paused }) };
  const changed = live.stages ?? {};
  const stages = detail.stages.map((stage) => {
    const change = changed[stage.name];
    return change === undefined ? stage : { ...stage, ...change };
  });
  return { ...detail, run, stages };
}

/** Says whether the frame tells of something that `detail` has no place for, so that it has to be read anew. */
export function outgrows(detail: Detail, live: Live): boolean {
  const known = new Map(detail.stages.map((s) => [s.name, s]));
  return Object.entries(live.stages ?? {}).some(([name, change]) => {
    const stage = known.get(name);
    return stage === undefined || (change.generation !== undefined && change.generation !== stage.generation);
  });
}
