import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { health } from "./health";

type Overview = Schemas["Overview"];
type Queue = Schemas["QueueBacklog"];

const none = { started: [], succeeded: [], failed: [] };
const leader = { leading: true, epoch: 3, holder: "ax-1/4711", beat_age_s: 1 };
const workers = { count: 2, draining: 0, silent: 0, slots: 64, busy: 16, saturation: 0.25, busiest: "daily/clean", oldest_beat_s: 1 };
const base: Overview = { at: "2026-11-29T12:00:00Z", window: "1h", from: "2026-11-29T11:00:00Z", step_s: 60, runs: none, tasks: none, queues: [], workers, leader, attention: [] };
const queue = (rest: Partial<Queue> & { level?: Schemas["Level"] } = {}): Queue => {
  const { level = "P2", ...q } = rest;
  const full = { queue: "default", depth: 100, in_flight: 4, oldest_s: 3, rate_per_s: 10, drain_s: 10, ...q };
  return { ...full, levels: [{ level, depth: full.depth, in_flight: full.in_flight, oldest_s: full.oldest_s }] };
};
const undrained = (rest: Parameters<typeof queue>[0] = {}): Queue => {
  const { drain_s: _, ...q } = queue(rest);
  return q;
};
const attention = (rank: number, kind: Schemas["Attention"]["kind"], text: string) => ({ rank, kind, text, count: 1, since: "2026-11-29T11:58:00Z" });

test("an idle cluster is healthy", () => {
  expect(health(base)).toEqual({ mood: "ok", title: "Healthy, and nothing waits", detail: "The busiest handler is daily/clean, which uses 25 % of its slots." });
});

test("work that is young is kept up with", () => {
  expect(health({ ...base, queues: [queue()] })).toEqual({ mood: "ok", title: "Healthy and keeping up", detail: "100 tasks waiting, the oldest for 3.0s; 10/s finish; the busiest handler is daily/clean, which uses 25 % of its slots." });
  expect(health({ ...base, workers: { ...workers, saturation: 1 } }).detail).toContain("uses all of its slots");
  const { busiest: _, ...resting } = workers;
  expect(health({ ...base, workers: { ...resting, busy: 0, saturation: 0 } }).detail).toBe("None of 64 slots used.");
});

test("without a leader nothing else matters", () => {
  const got = health({ ...base, leader: { ...leader, leading: false, beat_age_s: 75 }, workers: { ...workers, count: 0 }, queues: [queue({ oldest_s: 9999 })] });
  expect(got.mood).toBe("bad");
  expect(got.title).toBe("Nobody leads");
  expect(got.detail).toContain("1m 15s ago");
  expect(health({ ...base, leader: { leading: false, epoch: 0, holder: "", beat_age_s: 0 } }).detail).toContain("No engine has ever led");
});

test("no worker is bad while work waits, and a warning while nothing does", () => {
  expect(health({ ...base, workers: { ...workers, count: 0 }, queues: [queue({ depth: 1 })] })).toMatchObject({ mood: "bad", detail: expect.stringContaining("1 task waits.") });
  expect(health({ ...base, workers: { ...workers, count: 2, draining: 2 }, queues: [queue()] }).mood).toBe("bad");
  expect(health({ ...base, workers: { ...workers, count: 0 } }).mood).toBe("warn");
});

test("late work that does not drain is falling behind; late work that drains is catching up", () => {
  expect(health({ ...base, queues: [undrained({ oldest_s: 301 })] })).toEqual({
    mood: "bad", title: "Falling behind", detail: "Queue default has 100 waiting, the oldest for 5m 01s, and more comes than the 10/s that finish.",
  });
  expect(health({ ...base, queues: [undrained({ oldest_s: 301, rate_per_s: 0 })] }).detail).toContain("nothing finishes");
  expect(health({ ...base, queues: [queue({ oldest_s: 301 })] })).toMatchObject({ mood: "warn", title: "Late, and catching up", detail: expect.stringContaining("empty in about 10s") });
});

test("a growing queue whose work is young is not behind yet, and neither is a paused one", () => {
  expect(health({ ...base, queues: [undrained({ oldest_s: 20 })] }).mood).toBe("ok");
  expect(health({ ...base, queues: [undrained({ oldest_s: 9999, paused: true })] }).mood).toBe("ok");
});

test("the queue that is named is the one that is the most too late for its level", () => {
  const queues = [undrained({ queue: "slow", level: "P5", oldest_s: 15_000 }), undrained({ queue: "fast", level: "P0", oldest_s: 60 })];
  const got = health({ ...base, queues });
  expect(got.detail).toMatch(/^Queue fast /);
  expect(got.detail).toContain("1 more queue is late.");
});

test("what needs a person soon is said; what can wait is not", () => {
  expect(health({ ...base, attention: [attention(3, "circuit_open", "circuit downstream/x is open"), attention(4, "run_late", "late")] })).toEqual({
    mood: "warn", title: "Keeping up, but something needs a look", detail: "Circuit downstream/x is open. 1 more thing needs a look.",
  });
  expect(health({ ...base, attention: [attention(5, "dead_letters", "3 dead")] }).mood).toBe("ok");
  expect(health({ ...base, attention: [attention(1, "switch_off", "wheel is off")] })).toMatchObject({ mood: "bad", detail: "wheel is off." });
});

test("without the fleet's figures it judges what it sees", () => {
  const { leader: _, workers: __, queues: ___, ...rest } = base;
  expect(health(rest)).toEqual({ mood: "ok", title: "Healthy, and nothing waits", detail: "Nothing needs a look." });
});
