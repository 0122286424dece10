import { expect, test } from "vitest";
import { bandOf, bandsOf } from "./bands";
import { colorOf, faded, looksOf, toneOfLook } from "./look";
import { noTime, noWorker, type Packed } from "./packed";
import { palette, nonePaint } from "./palette";

const p: Packed = {
  total: 4,
  generation: 1,
  at: 0,
  names: ["succeeded", "in_flight", "dead", "expired"],
  states: Uint8Array.of(0, 1, 2, 3),
  attempts: Uint8Array.of(1, 2, 3, 200),
  durations: Uint32Array.of(10, noTime, 1000, 100_000),
  workers: Uint16Array.of(0, 1, noWorker, 12),
  workerIds: ["w0", "w1"],
};
const colours = (by: "state" | "duration" | "attempt" | "worker") => [...looksOf(p, by, {})].map((l) => palette[colorOf(l)]);
const shown = (filter: Parameters<typeof looksOf>[2]) => [...looksOf(p, "state", filter)].map((l) => (l & faded) === 0);

test("states are coloured as everywhere else, and keep their tone in every colouring", () => {
  expect(colours("state")).toEqual(["var(--s-succeeded)", "var(--s-running)", "var(--s-failed)", "var(--s-failed)"]);
  for (const by of ["state", "duration", "attempt", "worker"] as const) expect([...looksOf(p, by, {})].map(toneOfLook)).toEqual(["succeeded", "running", "failed", "failed"]);
});

test("the palette has room in six bits, and tones in four", () => {
  expect(palette.length).toBeLessThanOrEqual(64);
  expect(nonePaint).toBeLessThan(16);
});

test("what has no duration or worker has no colour", () => {
  expect(colours("duration")[1]).toBe(palette[nonePaint]);
  expect(colours("worker")[2]).toBe(palette[nonePaint]);
  expect(new Set(colours("duration")).size).toBe(4);
  // More workers than colours: the 13th has the first one's.
  expect(colours("worker")[3]).toBe(colours("worker")[0]);
});

test("from the fifth attempt on they look alike", () => {
  expect(colours("attempt")[3]).toBe("var(--s-failed)");
});

test("filters fade what they leave out", () => {
  expect(shown({})).toEqual([true, true, true, true]);
  expect(shown({ states: new Set(["dead", "in_flight"]) })).toEqual([false, true, true, false]);
  expect(shown({ attempt: 2 })).toEqual([false, true, false, false]);
  expect(shown({ attempt: 5 })).toEqual([false, false, false, true]);
  expect(shown({ took: [10, 1000] })).toEqual([true, false, false, false]);
  expect(shown({ worker: "w1" })).toEqual([false, true, false, false]);
  expect(shown({ worker: "gone" })).toEqual([false, false, false, false]);
  expect(shown({ states: new Set(["succeeded"]), attempt: 2 })).toEqual([false, false, false, false]);
});

test("arrays that are not there yet are drawn without", () => {
  const { names, states } = p;
  const bare: Packed = { total: 4, generation: 1, at: 0, names, states };
  expect([...looksOf(bare, "duration", {})].map((l) => colorOf(l))).toEqual(Array(4).fill(nonePaint));
  expect([...looksOf(bare, "worker", { worker: "w0" })].every((l) => l & faded)).toBe(true);
});

test("bands part durations evenly on a log scale", () => {
  const borders = bandsOf(Uint32Array.of(10, 100_000, noTime));
  // 10 · 10000^(k/8): 31.6, 100, 316, 1000, 3162, 10000, 31623, to two digits.
  expect(borders).toEqual([0, 32, 100, 320, 1000, 3200, 10_000, 32_000]);
  expect([0, 31, 32, 99, 100, 32_000, 9e9, noTime].map((d) => bandOf(borders, d))).toEqual([0, 0, 1, 1, 2, 7, 7, -1]);
});

test("few durations make few bands", () => {
  expect(bandsOf(Uint32Array.of(noTime))).toEqual([]);
  expect(bandsOf(Uint32Array.of(0))).toEqual([0]);
  expect(bandsOf(Uint32Array.of(50, 50))).toEqual([0, 50]);
  expect(bandOf([], 5)).toBe(-1);
});
