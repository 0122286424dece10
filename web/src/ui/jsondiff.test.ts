import { expect, test } from "vitest";
import { diff, same } from "./jsondiff";

test.each<[string, unknown, unknown, unknown]>([
  ["nothing", { a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, []],
  ["a scalar", 1, "1", [{ path: "", kind: "changed", before: 1, after: "1" }]],
  ["a field", { date: "2026-11-28", region: "eu" }, { date: "2026-11-29", region: "eu" }, [{ path: "/date", kind: "changed", before: "2026-11-28", after: "2026-11-29" }]],
  ["added and removed fields", { a: 1, b: 2 }, { b: 2, c: 3 }, [{ path: "/a", kind: "removed", before: 1 }, { path: "/c", kind: "added", after: 3 }]],
  ["null and missing are two things", { a: null }, {}, [{ path: "/a", kind: "removed", before: null }]],
  ["a nested field", { a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, [{ path: "/a/b/c", kind: "changed", before: 1, after: 2 }]],
  ["another type", { a: [1] }, { a: { 0: 1 } }, [{ path: "/a", kind: "changed", before: [1], after: { 0: 1 } }]],
  ["an item put in front", ["b", "c"], ["a", "b", "c"], [{ path: "/0", kind: "added", after: "a" }]],
  ["an item taken out", ["a", "b", "c"], ["a", "c"], [{ path: "/1", kind: "removed", before: "b" }]],
  ["a changed item", [{ x: 1 }, { x: 2 }], [{ x: 1 }, { x: 3 }], [{ path: "/1/x", kind: "changed", before: 2, after: 3 }]],
  ["keys with slashes", { "a/b~c": 1 }, { "a/b~c": 2 }, [{ path: "/a~1b~0c", kind: "changed", before: 1, after: 2 }]],
  ["a key named like a property of all objects", {}, JSON.parse('{"toString": 1}'), [{ path: "/toString", kind: "added", after: 1 }]],
  ["from nothing", undefined, { a: 1 }, [{ path: "", kind: "changed", before: undefined, after: { a: 1 } }]],
])("the difference of %s", (_, before, after, want) => expect(diff(before, after)).toEqual(want));

test("a value differs from itself in nothing, however large", () => {
  const large = Array.from({ length: 2000 }, (_, i) => ({ i, s: `x${i}` }));
  expect(diff(large, structuredClone(large))).toEqual([]);
  expect(same(large, structuredClone(large))).toBe(true);
  expect(same({ a: undefined }, { b: undefined })).toBe(false);
});
