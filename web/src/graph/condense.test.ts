import { expect, test } from "vitest";
import { condense, isJoint } from "./condense";

const stage = (name: string, upstreams: string[], rule = "all_success") => ({ name, upstreams, rule });
const text = (stages: ReturnType<typeof stage>[]) =>
  condense(stages)
    .links.map((l) => `${l.from}>${l.to}${l.implied ? "?" : ""}`)
    .sort()
    .join(" ");

test("what follows from others is implied", () => {
  expect(text([stage("a", []), stage("b", ["a"]), stage("c", ["a", "b"]), stage("d", ["a", "c"])])).toBe("a>b a>c? a>d? b>c c>d");
});

test("a diamond has nothing to leave out", () => {
  expect(text([stage("a", []), stage("b", ["a"]), stage("c", ["a"]), stage("d", ["b", "c"])])).toBe("a>b a>c b>d c>d");
});

test("an upstream that is not in the graph is passed over", () => expect(text([stage("a", ["ghost"])])).toBe("ghost>a?"));

test("three before three meet in a joint, by one rule", () => {
  const ups = ["a", "b", "c"];
  const all = [...ups.map((n) => stage(n, [])), stage("x", ups), stage("y", ["c", "b", "a"]), stage("z", ups)];
  const { joints, links } = condense(all);
  expect(joints).toHaveLength(1);
  expect(links).toHaveLength(6);
  expect(links.filter((l) => isJoint(l.to)).map((l) => l.from)).toEqual(["a", "b", "c"]);
  expect(links.filter((l) => isJoint(l.from)).map((l) => l.to)).toEqual(["x", "y", "z"]);
  // Another rule, or two of them only, is drawn link by link.
  expect(condense([...all.slice(0, 5), stage("z", ups, "all_done")]).joints).toEqual([]);
});

test("bits beyond the first 32 stages count", () => {
  const chain = Array.from({ length: 80 }, (_, i) => stage(`s${i}`, i === 0 ? [] : [`s${i - 1}`]));
  chain.push(stage("last", ["s0", "s40", "s79"]));
  expect(condense(chain).links.filter((l) => l.to === "last" && !l.implied).map((l) => l.from)).toEqual(["s79"]);
});
