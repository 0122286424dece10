import type { Schemas } from "../api/client";
import type { MenuItem } from "../ui/Menu";
import { stageRefuses } from "./allowed";
import { act } from "./host";
import { stageAct } from "./requests";
import { useMay } from "./useMay";
import { stageVerbs, type StageVerb } from "./verbs";

const ofStage: readonly StageVerb[] = ["retry", "rerun", "skip", "mark-success", "discard", "level", "expedite", "demote"];
const ofShards: readonly StageVerb[] = ["retry", "rerun", "skip", "mark-success", "discard"];

/**
 * The verbs on a stage, or on some of its shards (`"0-99,117"`), as items of a `Menu`, those that its state or the reader's role does not
 * allow disabled with the reason.
 */
export function useStageActs(run: Pick<Schemas["Run"], "id" | "state">, stage: Schemas["StageStatus"], shards?: string): MenuItem[] {
  const may = useMay();
  return (shards === undefined ? ofStage : ofShards).map((verb) => {
    const v = stageVerbs[verb];
    const refusal = may(v.needs) ?? stageRefuses(run, stage, verb, shards !== undefined);
    return {
      name: verb === "level" ? "Set level…" : v.name,
      onSelect: () => act(stageAct(run.id, stage.name, verb, shards)),
      ...(verb === "discard" ? { kind: "danger" as const } : {}),
      ...(refusal === undefined ? {} : { disabled: true, hint: refusal }),
      ...(verb === "level" || verb === "skip" ? { separate: true } : {}),
    };
  });
}
