import { expect, test } from "vitest";
import { entriesOf, kindOf, openAtFirst, redacted } from "./json";

test.each([
  [{}, "object"],
  [[], "array"],
  ["", "string"],
  [0, "number"],
  [false, "boolean"],
  [null, "null"],
  [undefined, "null"],
])("%o is %s", (value, kind) => expect(kindOf(value)).toBe(kind));

test("entries keep their order", () => {
  expect(entriesOf({ b: 1, a: [2] })).toEqual([["b", 1], ["a", [2]]]);
  expect(entriesOf(["x", "y"])).toEqual([["0", "x"], ["1", "y"]]);
  expect(entriesOf("text")).toEqual([]);
  expect(entriesOf(null)).toEqual([]);
});

test("long and deep ones are folded", () => {
  expect([openAtFirst(30, 0), openAtFirst(31, 0), openAtFirst(1, 2), openAtFirst(1, 3)]).toEqual([true, false, true, false]);
});

test("only the mark itself is redacted", () => expect([redacted("•••"), redacted("••••"), redacted(null)]).toEqual([true, false, false]));
