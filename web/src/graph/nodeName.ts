import type { Schemas } from "../api/client";
import { count, plural } from "../ui/format";
import { lettersOf, wordOf } from "../ui/states";
import type { Facts } from "./facts";

type Spec = Pick<Schemas["GraphStage"], "name" | "kind" | "child" | "teardown_of" | "conditional">;
type Status = Pick<Schemas["StageStatus"], "state" | "total" | "succeeded" | "dead" | "kind">;

/** What a stage's box is called for those who do not see it: "load-orders: running, 1,204 of 2,000 shards, 3 dead". */
export function nodeName(spec: Spec, status?: Status, facts?: Facts): string {
  if (!status) return `${spec.name}: ${kindWords(spec).join(", ")}`;
  const parts = [wordOf(status.state)];
  if (spec.kind === "sharded" && status.total >= 0) parts.push(`${count(status.succeeded)} of ${plural(status.total, "shard")}`);
  if (spec.kind === "sharded" && lettersOf(status) > 0) parts.push(`${count(lettersOf(status))} dead`);
  if (facts?.retrying) parts.push(`${count(facts.retrying)} backing off`);
  if (facts?.held) parts.push(facts.held);
  return `${spec.name}: ${parts.join(", ")}`;
}

/** What kind of stage it is, in words: "sharded", "sub-flow invoicing". */
export function kindWords(spec: Spec): string[] {
  const words: string[] = [];
  if (spec.child !== undefined) words.push(`sub-flow ${spec.child}`);
  if (spec.teardown_of !== undefined) words.push(`teardown of ${spec.teardown_of}`);
  if (spec.conditional) words.push("conditional");
  if (spec.kind === "sharded") words.push("sharded");
  else if (words.length === 0) words.push("single");
  return words;
}
