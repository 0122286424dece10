import { expect, it } from "vitest";
import { decided, tallyParts } from "./tally";

it("makes parts of the states that stages are in", () => {
  expect(tallyParts({ succeeded: 3, running: 1, waiting: 0, upstream_failed: 2 })).toEqual([
    { tone: "succeeded", count: 3, label: "succeeded" },
    { tone: "running", count: 1, label: "running" },
    { tone: "skipped", count: 2, label: "upstream failed" },
  ]);
  expect(tallyParts(undefined)).toEqual([]);
  expect(tallyParts({ invented: 3 })).toEqual([]);
});

it("counts what is decided", () => {
  expect(decided({ succeeded: 3, running: 1, waiting: 2, failed: 1 })).toEqual({ done: 4, all: 7 });
});
