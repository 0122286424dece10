/** Trigger rules in words: when the stage runs. */
const words: Record<string, string> = {
  all_success: "when all upstream stages have succeeded",
  all_failed: "when all upstream stages have failed",
  all_done: "when all upstream stages are done, whatever became of them",
  all_skipped: "when all upstream stages were skipped",
  one_success: "as soon as one upstream stage has succeeded",
  one_failed: "as soon as one upstream stage has failed",
  one_done: "as soon as one upstream stage has succeeded or failed",
  none_failed: "when all upstream stages are done and none has failed",
  none_failed_min_one_success: "when none of the upstream stages has failed and at least one has succeeded",
  none_skipped: "when all upstream stages are done and none was skipped",
  all_done_min_one_success: "when all upstream stages are done, none was skipped, and at least one has succeeded",
  always: "without waiting for upstream stages",
};

/** What a trigger rule means, to follow "runs"; a rule that is not known is named. */
export const ruleWords = (rule: string): string => words[rule] ?? `by the rule ${rule}`;
