import { describe, expect, it } from "vitest";
import { readDuration, readOptions, readTags, type Options } from "./options";

const none: Options = { level: "", queue: "", key: "", tags: "", begin: "now", after: "", at: "" };

describe("readOptions", () => {
  it("leaves out what is not said", () => {
    expect(readOptions(none)).toEqual({ faults: new Map() });
  });
  it("reads what is said", () => {
    expect(readOptions({ level: "P1", queue: " nightly ", key: "k", tags: "team=etl\nx = y", begin: "after", after: "1h30m", at: "" })).toEqual({ level: "P1", queue: "nightly", key: "k", tags: { team: "etl", x: "y" }, delay_s: 5400, faults: new Map() });
    expect(readOptions({ ...none, begin: "at", at: "2026-11-29T08:00:00+01:00" }).start_at).toBe("2026-11-29T07:00:00.000Z");
  });
  it("names what is wrong by the API's field", () => {
    expect([...readOptions({ ...none, tags: "nope", begin: "after", after: "soon" }).faults.keys()]).toEqual(["/tags", "/delay_s"]);
    expect([...readOptions({ ...none, begin: "at" }).faults.keys()]).toEqual(["/start_at"]);
  });
});

it("reads durations", () => {
  expect(["90", "90s", "15m", "1.5h", "1d 2h"].map(readDuration)).toEqual([90, 90, 900, 5400, 93600]);
  expect(["", "h", "1w", "-5s", "1h x"].map(readDuration)).toEqual([undefined, undefined, undefined, undefined, undefined]);
});

it("reads tags", () => {
  expect(readTags("a=1, b=2\n\nc=x=y").tags).toEqual({ a: "1", b: "2", c: "x=y" });
  expect(readTags("a=1\na=2").fault).toContain("twice");
  expect(readTags("=x").fault).toContain("no tag");
});
