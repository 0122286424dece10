import { describe, expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { factsOf } from "./facts";
import { gateName, heldBy, ranked, scopeOf } from "./gates";
import { stateOf } from "./past";
import { remedies } from "./remedies";
import { beginning } from "./Said";
import { parseWhy, whyOf } from "./target";

test.each([
  ["r1", { run: "r1" }],
  ["r1/load", { run: "r1", stage: "load" }],
  ["r1/load/0", { run: "r1", stage: "load", shard: 0 }],
  ["r1/load/-1", { run: "r1", stage: "load", shard: -1 }],
])("%s is read and written", (text, target) => {
  expect(parseWhy(text)).toEqual(target);
  expect(whyOf(target)).toBe(text);
});

test("what names nothing is nothing", () => {
  expect(parseWhy(undefined)).toBeUndefined();
  expect(parseWhy("/load")).toBeUndefined();
  expect(parseWhy("r1/load/x")).toEqual({ run: "r1", stage: "load" });
  expect(parseWhy("r1/")).toEqual({ run: "r1" });
});

const gate = (name: string, open = false, more: Partial<Schemas["Gate"]> = {}): Schemas["Gate"] => ({ name, open, reason: name, ...more });
const group = (fate: string, tasks: number, gates: Schemas["Gate"][] = [], more: Partial<Schemas["ExplainedGroup"]> = {}): Schemas["ExplainedGroup"] => ({ fate, tasks, shards: "0", diagnosis: fate, gates, ...more });
const explained = (more: Partial<Schemas["Explanation"]>): Schemas["Explanation"] => ({ run: "r1", flow: "f", state: "running", at: "2026-11-30T00:00:00Z", diagnosis: "d", ...more });

test("scopes lose the namespace", () => {
  expect(scopeOf(gate("limit", false, { scope: "queue default/mail" }))).toEqual({ kind: "queue", name: "mail" });
  expect(scopeOf(gate("breaker", false, { scope: "handler default/flow/stage@1" }))).toEqual({ kind: "handler", name: "flow/stage@1" });
  expect(scopeOf(gate("paused", false, { scope: "the run" }))).toEqual({ kind: "the", name: "run" });
  expect(scopeOf(gate("turn"))).toBeUndefined();
});

test("closed gates come first, the most telling at the top", () => {
  expect(ranked([gate("turn"), gate("capability", true), gate("breaker"), gate("paused"), gate("unknown_one")]).map((g) => g.name)).toEqual(["paused", "breaker", "unknown_one", "turn", "capability"]);
  expect(gateName(gate("unknown_one"))).toBe("unknown one");
});

describe("what holds something is said in few words", () => {
  test.each([
    [gate("paused", false, { scope: "queue default/nightly" }), "queue nightly paused"],
    [gate("paused", false, { scope: "the run" }), "run paused"],
    [gate("breaker", false, { scope: "downstream default/partner-api" }), "circuit partner-api open"],
    [gate("capability"), "no worker can run it"],
    [gate("leader"), "no engine leads"],
    [gate("capacity"), "workers are full"],
    [gate("upstream"), undefined],
    [gate("turn"), undefined],
    [gate("retry"), undefined],
    [gate("paused", true), undefined],
  ])("%o: %s", (g, want) => expect(heldBy([g])).toBe(want));
});

test("boxes hear what backs off and what holds them, not what goes on", () => {
  const facts = factsOf(
    explained({
      stages: [
        explained({ stage: "a", groups: [group("retrying", 2, [gate("retry")], { due: "2026-11-30T00:00:09Z" }), group("retrying", 1, [gate("retry")], { due: "2026-11-30T00:00:04Z" })] }),
        explained({ stage: "b", groups: [group("ready", 5, [gate("capacity")]), group("in_flight", 32)] }),
        explained({ stage: "c", groups: [group("ready", 5, [gate("breaker", false, { scope: "downstream default/x" })])] }),
        explained({ stage: "d", state: "waiting", gates: [gate("upstream")] }),
      ],
    }),
  );
  expect(facts.get("a")).toEqual({ retrying: 3, due: "2026-11-30T00:00:04Z", why: "d" });
  expect(facts.get("c")).toEqual({ held: "circuit x open", why: "d" });
  expect([...facts.keys()]).toEqual(["a", "c"]);
});

describe("there is something to do about", () => {
  test.each([
    ["a paused run", explained({ gates: [gate("paused", false, { scope: "the run" })] }), [{ kind: "resume-run", run: "r1" }]],
    ["a paused queue", explained({ stage: "s", groups: [group("ready", 1, [gate("paused", false, { scope: "queue default/q" })])] }), [{ kind: "resume-queue", queue: "q" }]],
    ["an open circuit, once", explained({ stage: "s", groups: [group("ready", 1, [gate("breaker", false, { scope: "downstream default/x" })]), group("retrying", 1, [gate("breaker", false, { scope: "downstream default/x" })])] }), [{ kind: "close-circuit", circuit: { kind: "downstream", name: "x" } }]],
    ["no worker", explained({ stage: "s", groups: [group("ready", 1, [gate("capability"), gate("capacity", false, { used: 0, limit: 0 })])] }), [{ kind: "workers" }]],
    ["dead shards", explained({ stage: "s", groups: [group("dead", 10, [gate("end")]), group("dead", 3, [gate("end")])] }), [{ kind: "retry", run: "r1", stage: "s", count: 13 }]],
    ["a dead shard", explained({ stage: "s", shard: 7, state: "dead", gates: [gate("end")] }), [{ kind: "retry", run: "r1", stage: "s", shards: "7", count: 1 }]],
    ["what a run waits for", explained({ stages: [explained({ stage: "s", groups: [group("dead", 1)] })] }), [{ kind: "retry", run: "r1", stage: "s", count: 1 }]],
    ["nothing", explained({ gates: [gate("upstream")] }), []],
  ])("%s", (_, e, want) => expect(remedies(e)).toEqual(want));
});

test("a fate of a later version has a mark all the same", () => {
  expect(stateOf("retrying")).toBe("retrying");
  expect(stateOf("dreaming")).toBe("waiting");
  expect(stateOf("toString")).toBe("waiting");
});

test("a long text shows its beginning, to the end of a word", () => {
  expect(beginning("short")).toBe("short");
  expect(beginning(`${"word ".repeat(43)}beyond the limit`)).toBe(`${"word ".repeat(43)}…`);
  expect(beginning("x".repeat(500))).toBe(`${"x".repeat(120)} …`);
});
