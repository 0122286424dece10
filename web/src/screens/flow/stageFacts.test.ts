import { expect, it } from "vitest";
import { retryText, timeoutText, traits } from "./stageFacts";

it("says how often a stage is tried", () => {
  expect(retryText({ max_attempts: 1 })).toBe("no retry");
  expect(retryText({ max_attempts: 3, initial_interval_s: 2, backoff_coefficient: 2, maximum_interval_s: 30 })).toBe("3 attempts, after 2.0s ×2 up to 30s");
});

it("says which time-outs there are", () => {
  expect(timeoutText({})).toBe("none");
  expect(timeoutText({ execution_s: 600, overall_s: 3600 })).toBe("execution 10m 00s, overall 1h 00m");
});

it("says what is particular", () => {
  expect(traits({ name: "a", kind: "sharded", upstreams: [], rule: "all_success", retry: { max_attempts: 3 }, timeout: {}, aligned_to: "b", limit: 5, fail_fast: true, requires: [] })).toEqual(["sharded, aligned to b", "limit 5", "fail fast"]);
});
