import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import { noTime, noWorker, unpack } from "./packed";

// The encoder of the tests writes bytes one by one, so that it shares nothing with the decoder.
const little = (values: readonly number[], size: number): string => Buffer.from(values.flatMap((v) => Array.from({ length: size }, (_, i) => Math.floor(v / 256 ** i) % 256))).toString("base64");

const head = { total: 3, generation: 2, at: "2026-11-29T12:00:00Z", state_names: ["waiting", "succeeded", "dead"] as ("waiting" | "succeeded" | "dead")[] };

test("every array comes out as it was packed", () => {
  const p = unpack({
    ...head,
    states: little([1, 2, 0], 1),
    attempts: little([1, 255, 0], 1),
    durations: little([1234, 3_000_000_000, 4294967295], 4),
    started: little([0, 258, 4294967295], 4),
    started_from: "2026-11-29T11:59:00.500Z",
    workers: little([0, 300, 65535], 2),
    worker_ids: ["a"],
  });
  expect([...p.states]).toEqual([1, 2, 0]);
  expect([...(p.attempts ?? [])]).toEqual([1, 255, 0]);
  expect([...(p.durations ?? [])]).toEqual([1234, 3_000_000_000, noTime]);
  expect([...(p.started ?? [])]).toEqual([0, 258, noTime]);
  expect([...(p.workers ?? [])]).toEqual([0, 300, noWorker]);
  expect(p.startedFrom).toBe(Date.UTC(2026, 10, 29, 11, 59, 0, 500));
  expect(p.at).toBe(Date.UTC(2026, 10, 29, 12));
  expect(p.names[p.states[1] ?? 0]).toBe("dead");
});

test("arrays that were not asked for are not there", () => {
  const p = unpack({ ...head, states: little([1, 1, 1], 1) });
  expect(p.durations).toBeUndefined();
  expect(p.attempts).toBeUndefined();
  expect(p.workers).toBeUndefined();
});

test("a stage whose shards are not known, or that has none, has empty arrays", () => {
  expect(unpack({ ...head, total: -1, states: "" }).states).toHaveLength(0);
  expect(unpack({ ...head, total: 0, states: "", durations: "" }).durations).toHaveLength(0);
});

test("an array of another length is refused by name", () => {
  expect(() => unpack({ ...head, states: little([1, 1], 1) })).toThrow("2 bytes of states where 3");
  expect(() => unpack({ ...head, states: little([1, 1, 1], 1), durations: little([5, 5], 4) })).toThrow("8 bytes of durations where 12");
});

test("the known text of a known array", () => {
  // 01 00 00 00  ff ff ff ff  00 01 00 00, by hand.
  expect([...(unpack({ ...head, states: "AAAA", durations: "AQAAAP////8AAQAA" }).durations ?? [])]).toEqual([1, noTime, 256]);
});
