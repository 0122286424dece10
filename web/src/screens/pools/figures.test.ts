import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { allTogether, matches, perWorker } from "./figures";

const pool: Schemas["Pool"] = { flow: "daily", stage: "clean", workers: 4, slots: 32, busy: 30, share: 0.9375, flagged: true };

test.each([["", true], ["DAILY/cl", true], ["clean busy", true], ["set", false], ["unserved", false], ["other", false]])("the search %j finds it: %s", (search, want) => expect(matches(pool, search)).toBe(want));

test("slots a worker are what was set, or what the workers say", () => {
  expect(perWorker(pool)).toBe("8");
  expect(perWorker({ ...pool, slots: 33 })).toBe("8.3 on average");
  expect(perWorker({ ...pool, set: 16 })).toBe("16");
  expect(perWorker({ ...pool, workers: 0, slots: 0 })).toBe("–");
});

test("it says what setting comes to", () => {
  expect(allTogether(pool, 16)).toBe("64 slots in all on 4 workers; there are 32 now.");
  expect(allTogether({ ...pool, workers: 1, slots: 8 }, 1)).toBe("1 slot in all on 1 worker; there are 8 now.");
  expect(allTogether(pool, undefined)).toBe("");
});
