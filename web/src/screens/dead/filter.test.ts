import { expect, test } from "vitest";
import { filterOf, filterWords, sinceTime } from "./filter";

const now = Date.UTC(2026, 10, 29, 12, 0, 30, 500);

test("ages and times", () => {
  expect(sinceTime("1h", now)).toBe("2026-11-29T11:00:00.000Z");
  expect(sinceTime("7d", now)).toBe("2026-11-22T12:00:00.000Z");
  expect(sinceTime("90m", now)).toBe("2026-11-29T10:30:00.000Z");
  expect(sinceTime("2026-11-01T00:00:00Z", now)).toBe("2026-11-01T00:00:00.000Z");
  expect(sinceTime("yesterday", now)).toBeUndefined();
  expect(sinceTime(undefined, now)).toBeUndefined();
});

test("an address is a filter, without what the API would refuse", () => {
  expect(filterOf({}, now)).toEqual({});
  expect(filterOf({ flow: "f", stage: "s", fingerprint: "p", code: "c", run: "01a229f3-02b9-77a4-96bd-e9da88e643c2", since: "1h" }, now)).toEqual({
    flow: "f",
    stage: "s",
    fingerprint: "p",
    code: "c",
    run: "01a229f3-02b9-77a4-96bd-e9da88e643c2",
    since: "2026-11-29T11:00:00.000Z",
  });
  expect(filterOf({ run: "x", since: "x" }, now)).toEqual({});
});

test("words", () => {
  expect(filterWords({})).toBe("dead letters");
  expect(filterWords({ flow: "daily-recon", stage: "compare", code: "bad_row" })).toBe("dead letters of daily-recon/compare with bad_row");
  expect(filterWords({ stage: "compare", since: "2026-11-29T11:00:00.000Z" })).toBe("dead letters of stage compare since 2026-11-29 11:00 UTC");
});
