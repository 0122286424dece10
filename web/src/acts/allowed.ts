import type { Schemas } from "../api/client";
import type { RunVerb, StageVerb } from "./verbs";

const ended = (state: Schemas["RunState"]): boolean => state !== "running" && state !== "cancelling";

/** Why a run's state does not allow a verb; undefined if it does. The server has the last word: it may have changed since it was read. */
export function runRefuses(run: Pick<Schemas["Run"], "state" | "paused">, verb: RunVerb, stages?: readonly Pick<Schemas["StageStatus"], "dead" | "tolerated">[]): string | undefined {
  const dead = stages?.reduce((sum, s) => sum + s.dead + (s.tolerated ?? 0), 0);
  switch (verb) {
    case "retry":
      if (run.state === "cancelling") return "It is being cancelled.";
      if (run.state === "cancelled") return "It was cancelled: rerun a stage instead.";
      // What failed in a run that has succeeded was tolerated; only its stages tell.
      return dead === 0 || (dead === undefined && run.state === "succeeded") ? "Nothing of it has failed for good." : undefined;
    case "resume":
      return run.paused ? undefined : "It is not paused.";
    case "pause":
      return run.paused ? "It is paused already." : ended(run.state) ? `It has ${run.state}.` : undefined;
    case "cancel":
    case "level":
    case "expedite":
    case "demote":
      return ended(run.state) ? endText(run.state) : undefined;
  }
}

const endText = (state: Schemas["RunState"]): string => (state === "cancelled" ? "It was cancelled." : `It has ${state} already.`);

/** Why a stage's state, or its run's, does not allow a verb; undefined if it does. */
export function stageRefuses(run: Pick<Schemas["Run"], "state">, stage: Pick<Schemas["StageStatus"], "state" | "dead" | "succeeded" | "tolerated">, verb: StageVerb, shards: boolean): string | undefined {
  const stopped = stage.state === "cancelled" || stage.state === "cancelling" || stage.state === "skipped";
  if (run.state === "cancelling" && verb !== "level" && verb !== "expedite" && verb !== "demote" && verb !== "discard") return "The run is being cancelled.";
  switch (verb) {
    case "retry":
    case "replay":
    case "discard":
      return stage.dead + (stage.tolerated ?? 0) === 0 ? "Nothing of it has failed for good." : undefined;
    case "rerun":
      return shards && stage.succeeded === 0 ? "Only shards that have succeeded can be rerun." : !shards && stage.state === "waiting" ? "It has not begun." : undefined;
    case "skip":
    case "mark-success":
      if (stopped) return stage.state === "skipped" ? "It was skipped." : `It is ${stage.state}.`;
      return stage.state === "succeeded" && stage.dead + (stage.tolerated ?? 0) === 0 ? "It has succeeded." : undefined;
    case "level":
    case "expedite":
    case "demote":
      if (shards) return "A level is the stage’s, not a shard’s.";
      return ended(run.state) ? `The run ${run.state === "cancelled" ? "was cancelled" : `has ${run.state}`}.` : undefined;
  }
}
