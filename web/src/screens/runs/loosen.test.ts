import { expect, it } from "vitest";
import { loosened } from "./loosen";

it("takes out one term after the other, then all", () => {
  expect(loosened("flow:a state:failed")).toEqual([
    { q: "state:failed", says: "Without flow:a" },
    { q: "flow:a", says: "Without state:failed" },
    { q: "", says: "All runs" },
  ]);
  expect(loosened("flow:a")).toEqual([{ q: "", says: "All runs" }]);
});
