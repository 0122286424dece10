import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { inOrder, matches, meaning } from "./figures";

const now = Date.parse("2026-11-29T12:00:00Z");
const circuit: Schemas["Circuit"] = { kind: "downstream", name: "warehouse", state: "open", manual: false, failures: 5, updated_at: "2026-11-29T11:59:40Z", until: "2026-11-29T12:00:12Z", last_error: "connection refused" };
const { until: _, ...endless } = circuit;

test("an open circuit says when it probes, or who has to close it", () => {
  expect(meaning(circuit, now)).toBe("work waits; a task probes in 12s");
  expect(meaning(circuit, now + 12_000)).toBe("work waits; the next task probes");
  expect(meaning(endless, now)).toBe("work waits; the next task probes");
  expect(meaning({ ...circuit, manual: true }, now)).toBe("work waits until it is closed by hand");
  expect(meaning({ ...circuit, state: "half-open" }, now)).toContain("probes");
  expect(meaning({ ...circuit, state: "closed" }, now)).toBe("work passes");
});

test.each([["warehouse", true], ["open refused", true], ["half-open", false], ["closed", false], ["manual", false], ["downstream/w", true]])("the search %j finds it: %s", (search, want) => expect(matches(circuit, search)).toBe(want));

test("what holds work stands first", () => {
  const list = [{ ...circuit, name: "a", state: "closed" as const }, { ...circuit, name: "b", state: "half-open" as const }, { ...circuit, name: "c" }, { ...circuit, name: "b" }];
  expect(inOrder(list).map((c) => `${c.state} ${c.name}`)).toEqual(["open b", "open c", "half-open b", "closed a"]);
});
