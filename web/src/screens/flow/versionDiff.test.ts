import { expect, it } from "vitest";
import type { Schemas } from "../../api/client";
import { fieldText, stageChanges } from "./versionDiff";

const stage = (name: string, over: Partial<Schemas["GraphStage"]> = {}): Schemas["GraphStage"] => ({ name, kind: "single", upstreams: [], rule: "all_success", retry: { max_attempts: 3 }, timeout: {}, ...over });

it("tells stages that came, went and changed", () => {
  expect(stageChanges([stage("a"), stage("b"), stage("c")], [stage("a"), stage("c", { retry: { max_attempts: 5 }, queue: "etl" }), stage("d", { upstreams: ["c"] })])).toEqual([
    { name: "c", kind: "changed", fields: [{ path: "/retry/max_attempts", kind: "changed", before: 3, after: 5 }, { path: "/queue", kind: "added", after: "etl" }] },
    { name: "d", kind: "added", fields: [] },
    { name: "b", kind: "removed", fields: [] },
  ]);
});

it("finds nothing where nothing changed", () => {
  expect(stageChanges([stage("a")], [stage("a")])).toEqual([]);
});

it("writes values", () => {
  expect([fieldText("etl"), fieldText(5), fieldText(["a", "b"]), fieldText([])]).toEqual(["etl", "5", "a, b", "none"]);
});
