import { expect, test } from "vitest";
import { offset, stepFor, ticks } from "./axis";

const at = (text: string): number => Date.parse(text);
const labels = (from: string, to: string, most: number, zone: string): string[] => ticks(at(from), at(to), most, { zone }).map((t) => t.label);

test.each([
  [10_000, 10, 1000],
  [10_000, 3, 5000],
  [90_000, 6, 15_000],
  [3_600_000, 8, 600_000],
  [1, 10, 1],
  [10 * 365 * 86_400_000, 4, 364 * 86_400_000],
])("over %d ms with %d marks one stands every %d ms", (span, most, want) => expect(stepFor(span, most)).toBe(want));

test("marks are round times of the reader's zone", () => {
  expect(labels("2026-11-29T12:00:07Z", "2026-11-29T12:01:00Z", 6, "utc")).toEqual(["12:00:10", "12:00:20", "12:00:30", "12:00:40", "12:00:50", "12:01:00"]);
  // Kathmandu is 5 h 45 min ahead: round hours there are not round here.
  expect(labels("2026-11-29T12:00:00Z", "2026-11-29T18:00:00Z", 6, "Asia/Kathmandu")).toEqual(["18:00", "19:00", "20:00", "21:00", "22:00", "23:00"]);
  expect(labels("2026-11-29T22:00:00Z", "2026-11-30T02:00:00Z", 4, "utc")).toEqual(["22:00", "23:00", "11-30", "01:00", "02:00"]);
  expect(labels("2026-11-29T12:00:00.100Z", "2026-11-29T12:00:00.400Z", 3, "utc")).toEqual(["12:00:00.100", "12:00:00.200", "12:00:00.300", "12:00:00.400"]);
});

test("a zone's offset follows its clocks", () => {
  expect(offset(at("2026-07-01T00:00:00.250Z"), "Europe/Berlin")).toBe(2 * 3_600_000);
  expect(offset(at("2026-12-01T00:00:00Z"), "Europe/Berlin")).toBe(3_600_000);
  expect(offset(at("1969-12-31T23:59:59.5Z"), "utc")).toBe(0);
});

const got = (from: number, to: number, most: number): string[] => ticks(1000 + from, 1000 + to, most, { since: 1000 }).map((t) => t.label);

test("marks since the start are durations", () => {
  expect(got(0, 10_000, 5)).toEqual(["0", "+2s", "+4s", "+6s", "+8s", "+10s"]);
  expect(got(0, 180_000, 3)).toEqual(["0", "+1m", "+2m", "+3m"]);
  expect(got(3_600_000, 5_400_000, 2)).toEqual(["+1h", "+1h 15m", "+1h 30m"]);
  expect(got(0, 300, 3)).toEqual(["0", "+100ms", "+200ms", "+300ms"]);
  expect(got(-2000, 0, 2)).toEqual(["−2s", "−1s", "0"]);
});

test("no span has no marks", () => expect(ticks(5, 5, 10, { zone: "utc" })).toEqual([]));
