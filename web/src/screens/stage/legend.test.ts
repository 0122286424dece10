import { expect, test } from "vitest";
import { noTime, noWorker, type Packed } from "./heat/packed";
import { filterOf } from "./filter";
import { legendOf } from "./legend";
import { faded, looksOf } from "./heat/look";

const p: Packed = {
  total: 6,
  generation: 1,
  at: 0,
  names: ["ready", "in_flight", "succeeded", "dead"],
  states: Uint8Array.of(2, 2, 3, 1, 0, 0),
  attempts: Uint8Array.of(1, 2, 9, 1, 0, 0),
  durations: Uint32Array.of(100, 100_000, 900, noTime, noTime, noTime),
  workers: Uint16Array.of(1, 1, 0, 0, noWorker, noWorker),
  workerIds: ["01a229d3-aaaa-7000-8000-00000000aaaa", "01a229d3-bbbb-7000-8000-00000000bbbb"],
};

test("every shard is counted once, whatever the colouring", () => {
  for (const by of ["state", "duration", "attempt", "worker"] as const) expect(legendOf(p, by).reduce((n, e) => n + e.count, 0)).toBe(6);
});

test("states in the order of the API, with their marks", () => {
  expect(legendOf(p, "state").map((e) => [e.label, e.tone, e.count])).toEqual([["ready", "queued", 2], ["in flight", "running", 1], ["succeeded", "succeeded", 2], ["dead", "failed", 1]]);
});

test("attempts and workers", () => {
  expect(legendOf(p, "attempt").map((e) => [e.label, e.count])).toEqual([["none yet", 2], ["attempt 1", 2], ["attempt 2", 1], ["5 or more", 1]]);
  expect(legendOf(p, "worker").map((e) => e.count)).toEqual([2, 2, 2]);
  expect(legendOf(p, "worker").at(-1)).toMatchObject({ label: "no worker yet", value: "" });
});

test("filtering by an entry leaves as many as the entry counts", () => {
  for (const [by, param] of [["state", "state"], ["duration", "took"], ["attempt", "attempt"], ["worker", "worker"]] as const) {
    for (const e of legendOf(p, by).filter(({ value }) => value !== "")) {
      const looks = looksOf(p, by, filterOf({ [param]: e.value }));
      expect([by, e.value, [...looks].filter((l) => !(l & faded)).length]).toEqual([by, e.value, e.count]);
    }
  }
});

test("arrays that are not there yet have no legend", () => {
  const { total, generation, at, names, states } = p;
  for (const by of ["duration", "attempt", "worker"] as const) expect(legendOf({ total, generation, at, names, states }, by)).toEqual([]);
});
