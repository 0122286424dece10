import { expect, test } from "vitest";
import { diff } from "./diff";

test("what differs", () => {
  expect([...(diff(Uint8Array.of(1, 2, 3, 4), Uint8Array.of(1, 9, 3, 8), 10) ?? [99])]).toEqual([1, 3]);
  expect([...(diff(Uint8Array.of(1, 2), Uint8Array.of(1, 2), 10) ?? [99])]).toEqual([]);
  expect([...(diff(new Uint8Array(0), new Uint8Array(0), 10) ?? [99])]).toEqual([]);
});

test("as many as may differ, and one more", () => {
  expect(diff(Uint8Array.of(0, 0, 0), Uint8Array.of(1, 1, 0), 2)).toHaveLength(2);
  expect(diff(Uint8Array.of(0, 0, 0), Uint8Array.of(1, 1, 1), 2)).toBeUndefined();
  expect(diff(Uint8Array.of(0), Uint8Array.of(0), 0)).toHaveLength(0);
  expect(diff(Uint8Array.of(0), Uint8Array.of(1), 0)).toBeUndefined();
});

test("a stage that grew is drawn anew", () => {
  expect(diff(Uint8Array.of(1), Uint8Array.of(1, 1), 10)).toBeUndefined();
});
