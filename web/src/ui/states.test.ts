import { expect, test } from "vitest";
import { lettersOf, stageParts } from "./states";

const stage = { total: 10, succeeded: 3, ready: 0, in_flight: 0, dead: 5, upstream_failed: 4, parked: 2, state: "failed" } as const;

test("shards whose upstreams have failed are no dead letters", () => {
  expect(lettersOf(stage)).toBe(1);
  expect(lettersOf({ dead: 2 })).toBe(2);
  expect(stageParts(stage)).toEqual([
    { tone: "succeeded", count: 3 },
    { tone: "waiting", count: 2 },
    { tone: "skipped", count: 4, label: "upstream failed" },
    { tone: "failed", count: 1 },
  ]);
});

test("a bar has each tone once, and all of the shards", () => {
  for (const state of ["running", "succeeded", "failed", "skipped", "cancelled", "cancelling", "upstream_failed"] as const) {
    const parts = stageParts({ ...stage, state });
    expect(new Set(parts.map((p) => p.tone)).size).toBe(parts.length);
    expect(parts.reduce((sum, p) => sum + p.count, 0)).toBe(stage.total);
  }
});
