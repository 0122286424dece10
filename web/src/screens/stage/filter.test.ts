import { expect, test } from "vitest";
import { coloringOf, filterOf, orderOf, tookText, toggledIn } from "./filter";

test("an address says what is filtered", () => {
  expect(filterOf({})).toEqual({});
  expect(filterOf({ state: "dead, retrying", worker: "w", attempt: "2", took: "120-340" })).toEqual({ states: new Set(["dead", "retrying"]), worker: "w", attempt: 2, took: [120, 340] });
  expect(filterOf({ took: "500-" })).toEqual({ took: [500, Infinity] });
  expect(filterOf({ took: tookText(31.6, Infinity) })).toEqual({ took: [32, Infinity] });
});

test("what cannot be read restricts nothing", () => {
  expect(filterOf({ attempt: "x", took: "fast" })).toEqual({});
  expect(filterOf({ attempt: "-1", took: "-5" })).toEqual({});
  expect(coloringOf({ color: "mood" })).toBe("state");
  expect(orderOf({ order: "mood" })).toBe("index");
  expect(coloringOf({ color: "worker" })).toBe("worker");
  expect(orderOf({ order: "duration" })).toBe("duration");
});

test("a click on a legend adds, and takes away again", () => {
  expect(toggledIn(undefined, "dead")).toBe("dead");
  expect(toggledIn("dead", "ready")).toBe("dead,ready");
  expect(toggledIn("dead,ready", "dead")).toBe("ready");
  expect(toggledIn("dead", "dead")).toBeUndefined();
});
