import { answer, api, type Schemas } from "../api/client";
import { keys } from "../api/keys";
import { shortId } from "../ui/format";
import type { ActInput, ActRequest } from "./request";
import { bulkVerbs, otherVerbs, runVerbs, stageVerbs, type BulkVerb, type RunVerb, type StageVerb } from "./verbs";

/** What an act on runs makes stale besides the run itself. */
const around = [keys.runs, keys.dead(), keys.fleet("holds"), ["overview"]];

const body = ({ dry_run, reason }: ActInput) => ({ dry_run, ...(reason ? { reason } : {}) });

/** An act on a run. */
export const runAct = (run: string, verb: RunVerb): ActRequest => ({
  title: `${runVerbs[verb].name}: run ${shortId(run)}`,
  target: `run ${shortId(run)}`,
  verb: runVerbs[verb],
  run: (act) => answer(api.POST("/api/v1/runs/{run}/acts/{verb}", { params: { path: { run, verb } }, body: act })),
  stale: [keys.run(run), ...around],
});

/** An act on a stage of a run, or on some of its shards (`"0-99,117"`). */
export const stageAct = (run: string, stage: string, verb: StageVerb, shards?: string): ActRequest => ({
  title: `${stageVerbs[verb].name}: ${shards === undefined ? `stage ${stage}` : `shards of ${stage}`}`,
  target: shards === undefined ? `stage ${stage}` : `shards of ${stage}`,
  verb: stageVerbs[verb],
  run: (act) => answer(api.POST("/api/v1/runs/{run}/stages/{stage}/acts/{verb}", { params: { path: { run, stage, verb } }, body: { ...act, ...(shards === undefined ? {} : { shards }) } })),
  stale: [keys.run(run), ...around],
});

/** An act on every run that a filter picks; `which` says in words which these are, such as "12 runs" or "runs of the search". */
export const bulkAct = (filter: Schemas["RunFilter"], verb: BulkVerb, which: string): ActRequest => ({
  title: `${bulkVerbs[verb].name}: ${which}`,
  target: which,
  verb: bulkVerbs[verb],
  run: (act) => answer(api.POST("/api/v1/bulk/{verb}", { params: { path: { verb } }, body: { filter, ...act } })),
  stale: [["run"], ...around],
  report: true,
});

/** Pauses or resumes a flow. */
export const holdFlow = (flow: string, hold: "pause" | "resume"): ActRequest => {
  const verb = hold === "pause" ? otherVerbs.pauseFlow : otherVerbs.resumeFlow;
  return {
    title: `${verb.name} ${flow}`,
    target: `flow ${flow}`,
    verb,
    run: (act) => answer(api.POST("/api/v1/flows/{flow}/{hold}", { params: { path: { flow, hold } }, body: body(act) })),
    stale: [keys.flows, ["run"], ...around],
  };
};

/** Pauses or resumes a queue. */
export const holdQueue = (queue: string, hold: "pause" | "resume"): ActRequest => {
  const verb = hold === "pause" ? otherVerbs.pauseQueue : otherVerbs.resumeQueue;
  return {
    title: `${verb.name} ${queue}`,
    target: `queue ${queue}`,
    verb,
    run: (act) => answer(api.POST("/api/v1/queues/{queue}/{hold}", { params: { path: { queue, hold } }, body: body(act) })),
    stale: [keys.fleet("queues"), ["run"], ...around],
  };
};

/** Takes a queue's settings back to the defaults. */
export const clearQueue = (queue: string): ActRequest => ({
  title: `Reset queue ${queue} to the defaults`,
  target: `queue ${queue}`,
  verb: otherVerbs.clearQueue,
  run: (act) => answer(api.DELETE("/api/v1/queues/{queue}", { params: { path: { queue }, query: body(act) } })),
  stale: [keys.fleet("queues")],
});

/** Changes a queue's settings, which the caller's form holds. */
export const setQueue = (queue: string, config: Schemas["QueueConfig"]): ActRequest => ({
  title: `Settings of queue ${queue}`,
  target: `queue ${queue}`,
  verb: otherVerbs.setQueue,
  run: (act) => answer(api.PUT("/api/v1/queues/{queue}", { params: { path: { queue } }, body: { ...config, ...body(act) } })),
  stale: [keys.fleet("queues")],
});

/** Sets how many slots each worker has for a handler. */
export const setPool = (flow: string, stage: string, slots: number): ActRequest => ({
  title: `Slots of ${flow}/${stage}`,
  target: `${flow}/${stage}`,
  verb: otherVerbs.setPool,
  run: (act) => answer(api.PUT("/api/v1/pools/{flow}/{stage}", { params: { path: { flow, stage } }, body: { slots, ...body(act) } })),
  stale: [keys.fleet("pools"), keys.fleet("workers")],
});

/** Leaves a handler's slots to the workers again. */
export const clearPool = (flow: string, stage: string): ActRequest => ({
  title: `Leave the slots of ${flow}/${stage} to the workers`,
  target: `${flow}/${stage}`,
  verb: otherVerbs.clearPool,
  run: (act) => answer(api.DELETE("/api/v1/pools/{flow}/{stage}", { params: { path: { flow, stage }, query: body(act) } })),
  stale: [keys.fleet("pools"), keys.fleet("workers")],
});

/** Drains a worker. */
export const drainWorker = (worker: string, name = shortId(worker)): ActRequest => ({
  title: `Drain worker ${name}`,
  target: `worker ${name}`,
  verb: otherVerbs.drain,
  run: (act) => answer(api.POST("/api/v1/workers/{worker}/drain", { params: { path: { worker } }, body: body(act) })),
  stale: [keys.fleet("workers"), ["overview"]],
});

/** Opens or closes a circuit by hand. */
export const moveCircuit = (kind: Schemas["CircuitKind"], name: string, move: "open" | "close"): ActRequest => {
  const verb = move === "open" ? otherVerbs.openCircuit : otherVerbs.closeCircuit;
  return {
    title: `${verb.name} ${name}`,
    target: `circuit ${name}`,
    verb,
    run: (act) => answer(api.POST("/api/v1/circuits/{move}", { params: { path: { move } }, body: { kind, name, ...body(act) } })),
    stale: [keys.fleet("circuits"), ["overview"]],
  };
};

/** Replays dead letters, with a canary and a rate. `which` says in words which they are. */
export const replayDead = (filter: Schemas["DeadFilter"], which: string): ActRequest => ({
  title: `Replay ${which}`,
  target: which,
  verb: otherVerbs.replayDead,
  run: ({ canary, per_second, ...act }) => answer(api.POST("/api/v1/dead-letters/replay", { body: { filter, ...body(act), ...(canary === undefined ? {} : { canary }), ...(per_second === undefined ? {} : { per_second }) } })),
  stale: [["run"], keys.replays(), ...around],
});

/** Gives dead letters up. */
export const discardDead = (filter: Schemas["DeadFilter"], which: string): ActRequest => ({
  title: `Discard ${which}`,
  target: which,
  verb: otherVerbs.discardDead,
  run: (act) => answer(api.POST("/api/v1/dead-letters/discard", { body: { filter, ...body(act) } })),
  stale: [["run"], ...around],
  report: true,
});

/** Ends a replay. */
export const cancelReplay = (replay: string): ActRequest => ({
  title: `Cancel replay ${shortId(replay)}`,
  target: `replay ${shortId(replay)}`,
  verb: otherVerbs.cancelReplay,
  run: (act) => answer(api.POST("/api/v1/replays/{replay}/cancel", { params: { path: { replay } }, body: body(act) })),
  stale: [keys.replays()],
});

/** Turns a kill switch. */
export const setSetting = (setting: Schemas["Setting"]["name"], on: boolean): ActRequest => {
  const verb = on ? otherVerbs.switchOn : otherVerbs.switchOff;
  return {
    title: `${verb.name}: ${setting}`,
    target: setting,
    verb,
    run: (act) => answer(api.PUT("/api/v1/settings/{setting}", { params: { path: { setting } }, body: { on, ...body(act) } })),
    stale: [keys.admin("settings"), keys.admin("audit")],
  };
};
