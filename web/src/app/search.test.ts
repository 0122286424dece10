import { expect, test } from "vitest";
import { parseSearch, strings, stringifySearch } from "./search";

test("an address is read as it was written", () => {
  const search = { q: 'flow:daily-recon tag:team=etl "a b"', view: "gantt", stage: "a&b" };
  expect(parseSearch(stringifySearch(search))).toEqual(search);
  expect(stringifySearch({ q: "flow:x state:failed,running" })).toBe("?q=flow:x+state:failed,running");
});

test("defaults have no place in the address", () => {
  expect(stringifySearch({ a: undefined, b: "", c: false, d: null })).toBe("");
});

test("unknown and ill-typed params are dropped", () => {
  expect(strings("q", "n")({ q: "x", n: 3, other: "y" })).toEqual({ q: "x", n: "3" });
  expect(strings("q")({ q: { a: 1 } })).toEqual({});
});
