import { expect, test } from "vitest";
import { formatSpans, parseSpans, sizeOf } from "./spans";

test.each([
  ["0", [[0, 1]], "0"],
  ["0-99,117", [[0, 100], [117, 118]], "0-99,117"],
  [" 3 - 4 , 9 ", [[3, 5], [9, 10]], "3-4,9"],
  ["7,3-5,6", [[3, 8]], "3-7"],
  ["5-9,0-20", [[0, 21]], "0-20"],
  ["4,4,4", [[4, 5]], "4"],
  ["007", [[7, 8]], "7"],
  ["1000000", [[1_000_000, 1_000_001]], "1000000"],
])("%s", (text, spans, canonical) => {
  expect(parseSpans(text)).toEqual(spans);
  expect(formatSpans(parseSpans(text) ?? [])).toBe(canonical);
});

test.each(["", ",", "1,", "a", "-1", "5-", "-5", "9-3", "1.5", "1000001", "0-1000001", "1--2", "0-99,...", "0x10", "99999999"])("%j is no set", (text) => {
  expect(parseSpans(text)).toBeUndefined();
});

test("sizes", () => {
  expect(sizeOf([])).toBe(0);
  expect(sizeOf([[0, 100], [117, 118]])).toBe(101);
  expect(formatSpans([])).toBe("");
});
