import { expect, test } from "vitest";
import { csvOf, cutSet, jsonOf, lineOf } from "./export";

const last = {
  stage: "sync",
  shard: 7,
  generation: 1,
  attempt: 2,
  delivery: 1,
  outcome: "failed",
  worker: "w1",
  ready_at: "2026-11-29T12:00:00Z",
  dispatched_at: "2026-11-29T12:00:00Z",
  started_at: "2026-11-29T12:00:00.250Z",
  finished_at: "2026-11-29T12:00:02Z",
  failure: { code: "http_502", message: 'GET /x: "502",\nBad Gateway' },
} as const;
const lines = [lineOf({ index: 7, key: "=SUM(A1)", state: "dead", attempt: 2, last }), lineOf({ index: 8, state: "waiting" })];

test("a shard with its newest attempt, and one that has none", () => {
  expect(lines[0]).toEqual({ index: 7, key: "=SUM(A1)", state: "dead", attempt: 2, duration_s: 1.75, worker: "w1", error_code: "http_502", error: 'GET /x: "502",\nBad Gateway' });
  expect(lines[1]).toEqual({ index: 8, key: "", state: "waiting", attempt: undefined, duration_s: undefined, worker: "", error_code: "", error: "" });
});

test("CSV quotes what needs it, and no cell is a formula", () => {
  expect(csvOf(lines)).toBe('index,key,state,attempt,duration_s,worker,error_code,error\r\n7,\'=SUM(A1),dead,2,1.75,w1,http_502,"GET /x: ""502"",\nBad Gateway"\r\n8,,waiting,,,,,\r\n');
});

test("JSON keeps everything as it is", () => {
  expect(JSON.parse(jsonOf(lines))[0].key).toBe("=SUM(A1)");
});

test("a long set is cut between ranges", () => {
  expect(cutSet("0-99,117", 100)).toEqual(["0-99,117"]);
  expect(cutSet("0-99,117,200-300,7", 9)).toEqual(["0-99,117", "200-300,7"]);
  expect(cutSet("1,2,3,4", 3)).toEqual(["1,2", "3,4"]);
  expect(cutSet("", 5)).toEqual([]);
});
