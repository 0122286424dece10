import { expect, test } from "vitest";
import type { Schemas } from "../../../api/client";
import { FactKeeper } from "./factkeeper";

const stage = (name: string, state: Schemas["StageState"] = "running"): Schemas["StageStatus"] => ({ name, kind: "sharded", state, generation: 1, total: 9, succeeded: 1, ready: 0, in_flight: 0, dead: 0, parked: 0 });
const explained: Schemas["Explanation"] = {
  run: "r",
  flow: "f",
  state: "running",
  at: "2026-11-30T00:00:00Z",
  diagnosis: "",
  stages: ["a", "b"].map((name) => ({ run: "r", flow: "f", stage: name, state: "running", at: "2026-11-30T00:00:00Z", diagnosis: "why", groups: [{ fate: "retrying", tasks: 2, shards: "1-2", diagnosis: "" }] })),
};

test("facts come from several answers, and what has ended is not held back any more", () => {
  const facts = new FactKeeper().keep({ stages: [stage("a"), stage("b", "failed"), stage("c")] }, explained, new Map([["a", 12.345]]), new Map([["b", { samples: 3, p50_s: 1, p95_s: 2 }]]));
  expect(facts.get("a")).toEqual({ retrying: 2, why: "why", rate: 12 });
  expect(facts.get("b")).toEqual({ p50: 1, p95: 2 });
  expect(facts.has("c")).toBe(false);
});

test("facts that say the same stay the same objects", () => {
  const keeper = new FactKeeper();
  const stages = [stage("a"), stage("b")];
  const first = keeper.keep({ stages }, explained, new Map([["a", 12.31], ["b", 5]]), new Map());
  const second = keeper.keep({ stages }, structuredClone(explained), new Map([["a", 12.33], ["b", 6]]), new Map());
  expect(second.get("a")).toBe(first.get("a"));
  expect(second.get("b")).not.toBe(first.get("b"));
  expect(keeper.keep({ stages }, explained, new Map([["a", 12.34], ["b", 6]]), new Map())).toBe(second);
});
