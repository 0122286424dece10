import type { Schemas } from "../api/client";

/** What a trigger rule says, in words: when the stage runs, and what becomes of it otherwise ("" where it always runs). */
export interface RuleWords {
  runs: string;
  else: string;
}

/** How an edge looks: by what its rule waits for. */
export type RuleKind = "success" | "done" | "failure" | "skip";

const failed = "one has failed: upstream failed";

// An upstream that was cancelled counts as failed, as does one that is upstream failed where a rule speaks of failures.
const rules: Record<string, RuleWords & { kind: RuleKind }> = {
  all_success: { runs: "runs when every upstream has succeeded", else: `if ${failed}, at once; if some were skipped: skipped`, kind: "success" },
  all_failed: { runs: "runs when every upstream has failed", else: "otherwise skipped", kind: "failure" },
  all_done: { runs: "runs when every upstream has ended, however", else: "", kind: "done" },
  all_skipped: { runs: "runs when every upstream was skipped", else: "otherwise skipped", kind: "skip" },
  one_success: { runs: "runs as soon as one upstream has succeeded", else: "if none can any more: upstream failed; if all were skipped: skipped", kind: "success" },
  one_failed: { runs: "runs as soon as one upstream has failed", else: "otherwise skipped", kind: "failure" },
  one_done: { runs: "runs as soon as one upstream has succeeded or failed", else: "if none can any more: skipped", kind: "done" },
  none_failed: { runs: "runs when no upstream has failed; skipped ones do not matter", else: `if ${failed}`, kind: "success" },
  none_failed_min_one_success: { runs: "runs when no upstream has failed and at least one has succeeded", else: `if ${failed}; if all were skipped: skipped`, kind: "success" },
  none_skipped: { runs: "runs when no upstream was skipped; failed ones do not matter", else: "if one was skipped: skipped", kind: "done" },
  all_done_min_one_success: { runs: "runs when every upstream has ended, none was skipped and at least one has succeeded", else: "if one was skipped: skipped; if all have failed: upstream failed", kind: "done" },
  always: { runs: "runs at once, without waiting for its upstreams", else: "", kind: "done" },
};

/** A trigger rule in words; a rule that this page does not know is named as it is. */
export const ruleWords = (rule: string): RuleWords => rules[rule] ?? { runs: `runs by the rule ${rule}`, else: "" };

/** What a rule waits for, for the look of an edge. */
export const ruleKind = (rule: string): RuleKind => rules[rule]?.kind ?? "success";

type Spec = Pick<Schemas["GraphStage"], "name" | "rule" | "upstreams" | "aligned_to" | "teardown_of" | "conditional">;

/** When a stage runs, in one sentence or two. */
export function whenWords(stage: Spec): string {
  if (stage.teardown_of !== undefined) return `Tears down what ${stage.teardown_of} has set up: runs when everything that uses it has ended, however, if ${stage.teardown_of} has run.`;
  const condition = stage.conditional ? " Then its condition decides whether it is needed." : "";
  if (stage.upstreams.length === 0) return `Runs at once: it has no upstreams.${condition}`;
  const words = ruleWords(stage.rule);
  const aligned = stage.aligned_to === undefined ? "" : ` Each shard follows the same shard of ${stage.aligned_to}.`;
  return `${upper(words.runs)}${words.else ? `; ${words.else}` : ""}.${aligned}${condition}`;
}

/** What an edge says: what the stage at its end waits for. */
export function edgeWords(from: string, stage: Spec): string {
  if (stage.teardown_of !== undefined) return `${stage.name} tears down ${stage.teardown_of}, when ${from} and everything else that uses it has ended`;
  if (stage.aligned_to === from) return `${stage.name}, shard by shard: each shard follows the same shard of ${from}`;
  return `${from} → ${stage.name}: ${stage.rule}: ${ruleWords(stage.rule).runs}`;
}

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
