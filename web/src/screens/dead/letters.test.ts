import { expect, test } from "vitest";
import { byStage, firstOf } from "./letters";

test("letters of one stage of one run are one act", () => {
  expect(
    byStage([
      { run: "a", stage: "s", shards: "7" },
      { run: "b", stage: "s", shards: "1-3" },
      { run: "a", stage: "s", shards: "9,12-14" },
      { run: "a", stage: "t", shards: "0" },
    ]),
  ).toEqual([
    { run: "a", stage: "s", shards: "7,9,12-14" },
    { run: "b", stage: "s", shards: "1-3" },
    { run: "a", stage: "t", shards: "0" },
  ]);
  expect(byStage([])).toEqual([]);
});

test("the first of a set", () => {
  expect(firstOf("7,19-23")).toBe("7");
  expect(firstOf("19-23")).toBe("19");
  expect(firstOf("-1")).toBe("-1");
});
