import { expect, test } from "vitest";
import { runSearch } from "./runSearch";

test("ids and their beginnings", () => {
  expect(runSearch("01937f2e")).toBe("01937f2e");
  expect(runSearch(" 01937F2E-5b7e ")).toBe("01937f2e-5b7e");
  expect(runSearch("01937f2e-5b7e-7cc3-98c4-dc0c0c07398f")).toBe("01937f2e-5b7e-7cc3-98c4-dc0c0c07398f");
  expect(runSearch("019")).toBeUndefined();
  expect(runSearch("zebra")).toBeUndefined();
});

test("terms that are complete", () => {
  expect(runSearch("flow:daily state:failed")).toBe("flow:daily state:failed");
  expect(runSearch("flow:")).toBeUndefined();
  expect(runSearch("flow:x state:")).toBeUndefined();
  expect(runSearch("start a run")).toBeUndefined();
  expect(runSearch("")).toBeUndefined();
});
