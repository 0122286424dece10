import type { Schemas } from "../api/client";
import type { MenuItem } from "../ui/Menu";
import { runRefuses } from "./allowed";
import { act } from "./host";
import { runAct } from "./requests";
import { useMay } from "./useMay";
import { runVerbs, type RunVerb } from "./verbs";

/**
 * The verbs on a run as items of a `Menu`, those that its state or the reader's role does not allow disabled with the reason. With
 * `stages` it is known whether something has failed.
 */
export function useRunActs(run: Schemas["Run"], stages?: readonly Schemas["StageStatus"][]): MenuItem[] {
  const may = useMay();
  const verbs: RunVerb[] = ["retry", run.paused ? "resume" : "pause", "level", "expedite", "demote", "cancel"];
  return verbs.map((verb) => {
    const v = runVerbs[verb];
    const refusal = may(v.needs) ?? runRefuses(run, verb, stages);
    return {
      name: verb === "cancel" && run.state === "cancelling" ? "Cancel by force" : verb === "level" ? "Set level…" : v.name,
      onSelect: () => act(runAct(run.id, verb)),
      ...(verb === "cancel" ? { kind: "danger" as const } : {}),
      ...(refusal === undefined ? {} : { disabled: true, hint: refusal }),
      ...(verb === "level" || verb === "cancel" ? { separate: true } : {}),
    };
  });
}
