import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { concerns, holds, reasonOf } from "./concerns";

const line = (more: Partial<Schemas["JournalLine"]>): Schemas["JournalLine"] => ({ id: "x", at: "2026-01-01T00:00:00Z", kind: "retry", actor: "ada", ...more });

test.each([["0-99,117", 0, true], ["0-99,117", 99, true], ["0-99,117", 100, false], ["0-99,117", 117, true], ["-1", -1, true], ["5", -1, false], ["...", 3, false]])("%s holds %d: %s", (set, i, want) => expect(holds(set, i)).toBe(want));

test("lines of other stages and other shards are left out", () => {
  expect(concerns(line({}), "load", 3)).toBe(true);
  expect(concerns(line({ stage: "load" }), "load", 3)).toBe(true);
  expect(concerns(line({ stage: "check" }), "load", 3)).toBe(false);
  expect(concerns(line({ stage: "load", detail: { shards: "1-2" } }), "load", 3)).toBe(false);
  expect(concerns(line({ stage: "load", detail: { shards: "1-4" } }), "load", 3)).toBe(true);
});

test("the reason stands first", () => expect(reasonOf({ shards: "1", reason: "the source is back", n: 0 })).toBe("the source is back · shards 1"));
