import type { Schemas } from "../api/client";
import { isJoint, type Link } from "./condense";
import { ruleKind, type RuleKind } from "./rules";

/** How far the upstream of a link has come: `plain` in a flow that does not run. */
export type LinkState = "plain" | "pending" | "live" | "done" | "bad" | "off";

/** The look of a link: what it waits for, and how far that has come. */
export interface Look {
  kind: RuleKind | "teardown" | "aligned";
  state: LinkState;
}

type States = ReadonlyMap<string, Schemas["StageState"]>;
type Spec = Pick<Schemas["GraphStage"], "rule" | "teardown_of" | "aligned_to">;

const byState: Record<Schemas["StageState"], LinkState> = {
  waiting: "pending",
  planning: "live",
  running: "live",
  cancelling: "live",
  succeeded: "done",
  failed: "bad",
  cancelled: "bad",
  upstream_failed: "bad",
  skipped: "off",
};

/** The look of each link, in their order. Behind a joint a link is done when all before it is. */
export function looks(links: readonly Link[], specs: ReadonlyMap<string, Spec>, states?: States): Look[] {
  const before = new Map<string, LinkState[]>();
  if (states) {
    for (const l of links) {
      const state = states.get(l.from);
      if (isJoint(l.to) && state) before.set(l.to, [...(before.get(l.to) ?? []), byState[state]]);
    }
  }
  return links.map((l) => {
    const spec = specs.get(l.waiting);
    const kind = spec === undefined ? "success" : spec.teardown_of !== undefined ? "teardown" : spec.aligned_to === l.from ? "aligned" : ruleKind(spec.rule);
    if (!states) return { kind, state: "plain" };
    if (isJoint(l.from)) return { kind, state: together(before.get(l.from) ?? []) };
    const state = states.get(l.from);
    return { kind, state: state ? byState[state] : "plain" };
  });
}

function together(states: readonly LinkState[]): LinkState {
  if (states.includes("bad")) return "bad";
  if (states.every((s) => s === "done" || s === "off")) return states.includes("done") ? "done" : "off";
  return states.some((s) => s !== "pending") ? "live" : "pending";
}
