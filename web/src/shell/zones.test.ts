import { expect, test } from "vitest";
import { findZones, offset, zoneText } from "./zones";

test("zones in words", () => {
  expect(["utc", "local", "Europe/Berlin", "America/Argentina/Buenos_Aires"].map(zoneText)).toEqual(["UTC", "local time", "Berlin", "Buenos Aires"]);
});

test("offsets go by the date", () => {
  expect(offset("Europe/Berlin", new Date("2026-01-15T00:00:00Z"))).toBe("+01:00");
  expect(offset("Europe/Berlin", new Date("2026-07-15T00:00:00Z"))).toBe("+02:00");
  expect(offset("UTC", new Date(0))).toBe("+00:00");
  expect(offset("Asia/Kolkata", new Date(0))).toBe("+05:30");
});

test("a zone is found by parts of its name", () => {
  const zones = ["America/New_York", "America/North_Dakota/New_Salem", "Europe/Berlin"];
  expect(findZones("new york", zones, 10)).toEqual(["America/New_York"]);
  expect(findZones("new", zones, 1)).toEqual(["America/New_York"]);
  expect(findZones("", zones, 10)).toEqual(zones);
  expect(findZones("mars", zones, 10)).toEqual([]);
});
