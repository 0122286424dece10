import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { normal, tries } from "./tries";

const t = (s: number): string => new Date(s * 1000).toISOString();
const attempt = (n: number, [ready, started, finished]: [number, number, number], more: Partial<Schemas["Attempt"]> = {}): Schemas["Attempt"] => ({
  stage: "load", shard: 3, generation: 1, attempt: n, delivery: 1, outcome: "failed", ready_at: t(ready), dispatched_at: t(started), started_at: t(started), finished_at: t(finished),
  failure: { code: "handler_error", message: `row ${n} of table "t${n}" has no partner` }, ...more,
});

test("waits between attempts, in the queue, and while they run", () => {
  const got = tries([attempt(1, [0, 2, 5]), attempt(2, [9, 10, 30]), attempt(1, [100, 101, 102], { generation: 2, outcome: "succeeded" })]);
  expect(got.map((x) => [x.key, x.between, x.queued, x.ran])).toEqual([["1/1/1", undefined, 2000, 3000], ["1/2/1", 4000, 1000, 20_000], ["2/1/1", undefined, 1000, 1000]]);
});

test("the same fault again names the first", () => {
  const other = attempt(2, [9, 10, 30], { failure: { code: "timeout", message: "deadline" } });
  const got = tries([attempt(1, [0, 2, 5]), other, attempt(3, [40, 41, 42]), attempt(1, [50, 51, 52], { generation: 2 })]);
  expect(got.map((x) => x.sameAs)).toEqual([undefined, undefined, "#1", "#1 of generation 1"]);
});

test("clocks that disagree give no negative time", () => expect(tries([attempt(1, [5, 4, 3])]).map((x) => [x.queued, x.ran])).toEqual([[0, 0]]));

test.each([
  ["row 8811 has no currency", "row … has no currency"],
  ["run 01937f2e-5b7e-7cc3-98c4-dc0c0c07398f is gone", "run … is gone"],
  ['key "a b" at 0x7fff', "key … at …"],
  ["no difference", "no difference"],
])("%s is at heart %s", (text, want) => expect(normal(text)).toBe(want));
