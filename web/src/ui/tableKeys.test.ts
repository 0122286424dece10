import { expect, test } from "vitest";
import { indexOf, select, step } from "./tableKeys";

test("keys move within the table", () => {
  expect(step("ArrowDown", 0, 3, 10)).toBe(1);
  expect(step("ArrowDown", 2, 3, 10)).toBe(2);
  expect(step("ArrowUp", 0, 3, 10)).toBe(0);
  expect(step("End", 0, 100_000, 10)).toBe(99_999);
  expect(step("Home", 500, 100_000, 10)).toBe(0);
  expect(step("PageDown", 0, 100, 10)).toBe(9);
  expect(step("PageUp", 50, 100, 10)).toBe(41);
  expect(step("PageDown", 95, 100, 10)).toBe(99);
  expect(step("PageDown", 5, 100, 0)).toBe(6);
  expect(step("x", 5, 100, 10)).toBeUndefined();
  expect(step("ArrowDown", 0, 0, 10)).toBeUndefined();
});

const rows = ["a", "b", "c", "d", "e"];
const same = (s: string) => s;

test("a row is found wherever the search begins", () => {
  for (let near = -2; near < 8; near++) {
    expect(indexOf(rows, same, "a", near)).toBe(0);
    expect(indexOf(rows, same, "e", near)).toBe(4);
    expect(indexOf(rows, same, "x", near)).toBe(-1);
  }
  expect(indexOf(rows, same, undefined, 0)).toBe(-1);
  expect(indexOf([], same, "a", 0)).toBe(-1);
});

test("rows are toggled, and ranges are like their anchor", () => {
  expect([...select(rows, same, new Set(), 1, -1)]).toEqual(["b"]);
  expect([...select(rows, same, new Set(["b"]), 1, -1)]).toEqual([]);
  expect([...select(rows, same, new Set(["b"]), 3, 1)]).toEqual(["b", "c", "d"]);
  expect([...select(rows, same, new Set(["d"]), 1, 3)].sort()).toEqual(["b", "c", "d"]);
  expect([...select(rows, same, new Set(["a", "b", "c"]), 4, 3)]).toEqual(["a", "b", "c"]);
  expect([...select(rows, same, new Set(["c"]), 9, 1)]).toEqual(["c"]);
});
