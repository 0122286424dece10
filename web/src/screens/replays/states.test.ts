import { expect, test } from "vitest";
import { filterParts, going, leftOf } from "./states";

test("what goes on, and how long", () => {
  expect(["canary", "running", "done", "stopped", "cancelled"].filter((state) => going({ state: state as "canary" }))).toEqual(["canary", "running"]);
  expect(leftOf({ state: "running", per_second: 5, total: 300, moved: 50 })).toBe(50);
  expect(leftOf({ state: "running", per_second: 5, total: 3, moved: 4 })).toBe(0);
  expect(leftOf({ state: "running", total: 300, moved: 50 })).toBeUndefined();
  expect(leftOf({ state: "done", per_second: 5, total: 300, moved: 50 })).toBeUndefined();
});

test("a filter in parts", () => {
  expect(filterParts({ flow: "f", fingerprint: "p", until: "t" })).toEqual([["flow", "f"], ["group", "p"], ["until", "t"]]);
  expect(filterParts({})).toEqual([]);
});
