import { describe, expect, test } from "vitest";
import { edgeWords, ruleKind, ruleWords, whenWords } from "./rules";

// The table of decisions, once all upstreams are decided: when a stage runs, and when it is skipped or fails with them.
const table = [
  ["all_success", /every upstream has succeeded$/, /failed: upstream failed.*skipped: skipped$/, "success"],
  ["all_failed", /every upstream has failed$/, /^otherwise skipped$/, "failure"],
  ["all_done", /every upstream has ended, however$/, /^$/, "done"],
  ["all_skipped", /every upstream was skipped$/, /^otherwise skipped$/, "skip"],
  ["one_success", /as soon as one upstream has succeeded$/, /upstream failed; if all were skipped: skipped$/, "success"],
  ["one_failed", /as soon as one upstream has failed$/, /^otherwise skipped$/, "failure"],
  ["one_done", /as soon as one upstream has succeeded or failed$/, /skipped$/, "done"],
  ["none_failed", /no upstream has failed/, /failed: upstream failed$/, "success"],
  ["none_failed_min_one_success", /no upstream has failed and at least one has succeeded$/, /upstream failed; if all were skipped: skipped$/, "success"],
  ["none_skipped", /no upstream was skipped/, /skipped: skipped$/, "done"],
  ["all_done_min_one_success", /ended, none was skipped and at least one has succeeded$/, /skipped: skipped; if all have failed: upstream failed$/, "done"],
  ["always", /at once, without waiting/, /^$/, "done"],
] as const;

describe.each(table)("%s", (rule, runs, otherwise, kind) => {
  test("says when the stage runs", () => expect(ruleWords(rule).runs).toMatch(runs));
  test("says what becomes of it otherwise", () => expect(ruleWords(rule).else).toMatch(otherwise));
  test("has a look", () => expect(ruleKind(rule)).toBe(kind));
});

test("a rule of a later version is named", () => {
  expect(ruleWords("half_done").runs).toBe("runs by the rule half_done");
  expect(ruleKind("half_done")).toBe("success");
});

const stage = (more: object) => ({ name: "index", rule: "all_done", upstreams: ["discover", "sync"], ...more });

test("a stage says when it runs", () => {
  expect(whenWords(stage({}))).toBe("Runs when every upstream has ended, however.");
  expect(whenWords(stage({ aligned_to: "sync" }))).toBe("Runs when every upstream has ended, however. Each shard follows the same shard of sync.");
  expect(whenWords(stage({ upstreams: [], conditional: true }))).toBe("Runs at once: it has no upstreams. Then its condition decides whether it is needed.");
  expect(whenWords(stage({ teardown_of: "setup" }))).toMatch(/^Tears down what setup has set up/);
});

test("an edge says what is waited for", () => {
  expect(edgeWords("discover", stage({ aligned_to: "sync" }))).toBe("discover → index: all_done: runs when every upstream has ended, however");
  expect(edgeWords("sync", stage({ aligned_to: "sync" }))).toBe("index, shard by shard: each shard follows the same shard of sync");
});
