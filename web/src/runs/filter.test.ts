import { describe, expect, it } from "vitest";
import { filterOf, moment } from "./filter";

const now = new Date("2026-11-29T12:00:00Z");

describe("filterOf", () => {
  it("says what a filter can say", () => {
    expect(filterOf('flow:a,b state:failed queue:default tag:team=etl tag:"x=a b" since:24h until:2026-11-29', now)).toEqual({
      filter: {
        flows: ["a", "b"],
        states: ["failed"],
        queues: ["default"],
        tags: { team: "etl", x: "a b" },
        since: "2026-11-28T12:00:00.000Z",
        until: "2026-11-29T00:00:00.000Z",
      },
      cannot: [],
    });
  });
  it("writes open and ended as the states that they are, each once", () => {
    expect(filterOf("state:open,running", now).filter?.states).toEqual(["running", "cancelling"]);
    expect(filterOf("state:ended", now).filter?.states).toEqual(["succeeded", "failed", "cancelled"]);
  });
  it("names the terms that a filter has no word for, and makes none then", () => {
    expect(filterOf("flow:a level:P1 param.date:2026-11-29 trigger:api version:abcd", now)).toEqual({
      filter: undefined,
      cannot: ["level:P1", "param.date:2026-11-29", "trigger:api", "version:abcd"],
    });
  });
  it("takes a whole id and not its beginning", () => {
    expect(filterOf("01937F2E-5b7e-7cc3-98c4-dc0c0c07398f", now).filter).toEqual({ runs: ["01937f2e-5b7e-7cc3-98c4-dc0c0c07398f"] });
    expect(filterOf("01937f2e", now)).toEqual({ filter: undefined, cannot: ["01937f2e"] });
  });
  it("makes no filter that restricts nothing", () => {
    expect(filterOf("", now)).toEqual({ filter: undefined, cannot: [] });
  });
});

describe("moment", () => {
  it("reads durations, dates and times in UTC", () => {
    expect(moment("90m", now)?.toISOString()).toBe("2026-11-29T10:30:00.000Z");
    expect(moment("1h30m", now)?.toISOString()).toBe("2026-11-29T10:30:00.000Z");
    expect(moment("1w", now)?.toISOString()).toBe("2026-11-22T12:00:00.000Z");
    expect(moment("2026-11-01", now)?.toISOString()).toBe("2026-11-01T00:00:00.000Z");
    expect(moment("2026-11-01T06:00", now)?.toISOString()).toBe("2026-11-01T06:00:00.000Z");
    expect(moment("2026-11-01T06:00:00+02:00", now)?.toISOString()).toBe("2026-11-01T04:00:00.000Z");
  });
  it("knows what is no time", () => {
    for (const bad of ["", "0h", "soon", "24", "2026-13-01", "11/29"]) expect(moment(bad, now)).toBeUndefined();
  });
});
