import { expect, test } from "vitest";
import { runRefuses, stageRefuses } from "./allowed";

const stage = { state: "running", dead: 0, succeeded: 0 } as const;

test("an ended run can be retried at most", () => {
  for (const state of ["succeeded", "failed", "cancelled"] as const) {
    for (const verb of ["cancel", "pause", "resume", "level", "expedite", "demote"] as const) expect(runRefuses({ state }, verb), `${verb} ${state}`).toBeDefined();
  }
  expect(runRefuses({ state: "failed" }, "retry")).toBeUndefined();
  expect(runRefuses({ state: "succeeded" }, "retry")).toBeDefined();
  expect(runRefuses({ state: "succeeded" }, "retry", [{ dead: 0, tolerated: 2 }])).toBeUndefined();
  expect(runRefuses({ state: "cancelled" }, "retry")).toBeDefined();
});

test("an open run is paused or resumed, never both", () => {
  expect(runRefuses({ state: "running" }, "pause")).toBeUndefined();
  expect(runRefuses({ state: "running" }, "resume")).toBeDefined();
  expect(runRefuses({ state: "running", paused: true }, "pause")).toBeDefined();
  expect(runRefuses({ state: "running", paused: true }, "resume")).toBeUndefined();
  expect(runRefuses({ state: "cancelling" }, "cancel")).toBeUndefined();
});

test("a running run is retried only where something has failed", () => {
  expect(runRefuses({ state: "running" }, "retry")).toBeUndefined();
  expect(runRefuses({ state: "running" }, "retry", [{ dead: 0 }])).toBeDefined();
  expect(runRefuses({ state: "running" }, "retry", [{ dead: 1 }])).toBeUndefined();
});

test("a stage's verbs go by what is there", () => {
  const run = { state: "running" } as const;
  expect(stageRefuses(run, stage, "retry", false)).toBeDefined();
  expect(stageRefuses(run, { ...stage, dead: 1 }, "retry", false)).toBeUndefined();
  expect(stageRefuses(run, { ...stage, state: "succeeded" }, "skip", false)).toBeDefined();
  expect(stageRefuses(run, { ...stage, state: "waiting" }, "rerun", false)).toBeDefined();
  expect(stageRefuses(run, { ...stage, succeeded: 3 }, "rerun", true)).toBeUndefined();
  expect(stageRefuses(run, stage, "rerun", true)).toBeDefined();
  expect(stageRefuses(run, stage, "level", true)).toBeDefined();
  expect(stageRefuses({ state: "failed" }, stage, "level", false)).toBeDefined();
  expect(stageRefuses({ state: "cancelling" }, { ...stage, dead: 1 }, "retry", false)).toBeDefined();
});
