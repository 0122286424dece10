import { expect, test } from "vitest";
import { flowNames } from "./webhooks";

test("flows are separated by commas or spaces, each once", () => {
  expect(flowNames(" a, b  c,,a ")).toEqual(["a", "b", "c"]);
  expect(flowNames("  ")).toEqual([]);
});
