import { expect, test } from "vitest";
import { lastTurned, meaning } from "./settings";

test("what is said is split at its fallback", () => {
  expect(meaning("circuit breakers hold work back; off: none does, and workers do not trip")).toEqual({ on: "Circuit breakers hold work back", off: "None does, and workers do not trip" });
  expect(meaning("something new")).toEqual({ on: "Something new", off: "" });
});

const line = (id: string, target: string) => ({ id, target, at: "", actor: "", verb: "set_setting" });

test("the newest line of each switch counts", () => {
  const last = lastTurned([line("3", "setting/wheel"), line("2", "setting/breaker"), line("1", "setting/wheel")]);
  expect([last.get("wheel")?.id, last.get("breaker")?.id, last.get("aging")]).toEqual(["3", "2", undefined]);
});
