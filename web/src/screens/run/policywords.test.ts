import { expect, test } from "vitest";
import { retryWords, timeoutWords } from "./policywords";

test("retries in words", () => {
  expect(retryWords({ max_attempts: 1 })).toBe("none: one attempt");
  expect(retryWords({ max_attempts: 5, initial_interval_s: 0.2, backoff_coefficient: 2, maximum_interval_s: 30 })).toBe("5 attempts, first after 0.2s, then ×2, up to 30s");
  expect(retryWords({ max_attempts: 3, initial_interval_s: 2, backoff_coefficient: 1, maximum_interval_s: 30 })).toBe("3 attempts, first after 2.0s");
});

test("time-outs in words", () => {
  expect(timeoutWords({})).toBe("none");
  expect(timeoutWords({ execution_s: 3600, dispatch_s: 60, overall_s: 7200 })).toBe("1h 00m to run, 1m 00s to start, 2h 00m in all");
});
