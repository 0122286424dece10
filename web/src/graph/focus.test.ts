import { expect, test } from "vitest";
import { related, walk, ways } from "./focus";

//        ┌ b ┐
//   a ──┤     ├─ d ── e      x alone
//        └ c ┘
const net = ways([
  { name: "a", upstreams: [] },
  { name: "b", upstreams: ["a"] },
  { name: "c", upstreams: ["a"] },
  { name: "d", upstreams: ["b", "c"] },
  { name: "e", upstreams: ["d"] },
  { name: "x", upstreams: [] },
]);
const at = { a: { x: 0, y: 50 }, b: { x: 100, y: 0 }, c: { x: 100, y: 90 }, d: { x: 200, y: 50 }, e: { x: 300, y: 50 }, x: { x: 0, y: 200 } };

test.each([
  ["a", "abcde"],
  ["b", "abde"],
  ["d", "abcde"],
  ["x", "x"],
  ["nobody", ""],
])("what is up- and downstream of %s is %s", (stage, want) => expect([...related(net, stage)].sort().join("")).toBe(want));

test.each([
  ["a", "right", "c"], // 40 away, b is 50 away
  ["b", "left", "a"],
  ["b", "down", "c"],
  ["c", "up", "b"],
  ["a", "down", "x"],
  ["d", "right", "e"],
  ["e", "right", undefined],
  ["x", "left", undefined],
  ["b", "up", undefined],
] as const)("from %s an arrow %s leads to %s", (from, direction, want) => expect(walk(net, at, from, direction)).toBe(want));
