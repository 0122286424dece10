import { afterEach, expect, test } from "vitest";
import { absolute, brief } from "./zone";

const home = process.env["TZ"];
afterEach(() => {
  process.env["TZ"] = home ?? "UTC";
});

const zones = ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Pacific/Kiritimati", "America/Los_Angeles"];
// Both sides of a change of summer time in Berlin, a leap day, the turn of a year, and before 1970.
const times = ["2026-03-29T00:59:59.999Z", "2026-03-29T01:00:00.000Z", "2024-02-29T12:00:00.007Z", "2025-12-31T23:59:59.500Z", "1969-07-20T20:17:40.000Z"].map((t) => new Date(t));

test.each(zones)("the browser's own zone reads as it does by its name, %s", (zone) => {
  process.env["TZ"] = zone;
  for (const at of times) {
    expect(absolute(at, "local")).toBe(absolute(at, zone));
    for (const now of times) expect(brief(at, now, "local")).toBe(brief(at, now, zone));
  }
});

test("a time in full names its offset, and UTC", () => {
  const at = new Date("2026-11-29T14:03:27.120Z");
  expect(absolute(at, "utc")).toBe("2026-11-29 14:03:27.120 UTC");
  expect(absolute(at, "Europe/Berlin")).toBe("2026-11-29 15:03:27.120 GMT+1");
  expect(absolute(at, "Asia/Kathmandu")).toBe("2026-11-29 19:48:27.120 GMT+5:45");
});

test("a time is told as short as it can be told apart from now", () => {
  const now = new Date("2026-11-29T14:00:00Z");
  expect(brief(new Date("2026-11-29T13:59:58Z"), now, "utc")).toBe("13:59:58");
  expect(brief(new Date("2026-11-28T23:59:58Z"), now, "utc")).toBe("11-28 23:59");
  expect(brief(new Date("2026-11-28T23:59:58Z"), now, "Asia/Tokyo")).toBe("08:59:58");
  expect(brief(new Date("2025-11-29T14:00:00Z"), now, "utc")).toBe("2025-11-29");
});
