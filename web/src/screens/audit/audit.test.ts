import { expect, test } from "vitest";
import { madeAt, targetLink } from "./audit";

test("targets lead to what they name", () => {
  expect(targetLink("run/0192")).toEqual({ to: "/runs/$run", params: { run: "0192" } });
  expect(targetLink("run/0192/load")).toEqual({ to: "/runs/$run/stages/$stage", params: { run: "0192", stage: "load" } });
  expect(targetLink("queue/etl")).toEqual({ to: "/queues", search: { queue: "etl" } });
  expect(targetLink("pool/daily/clean")).toEqual({ to: "/pools", search: { q: "daily/clean" } });
  expect(targetLink("circuit/downstream/warehouse")).toEqual({ to: "/circuits", search: { q: "warehouse" } });
  expect(targetLink("circuit/handler/daily/clean")).toEqual({ to: "/circuits", search: { q: "daily/clean" } });
  expect(targetLink("session/0192")).toBeUndefined();
  expect(targetLink("run/")).toBeUndefined();
});

test("an id tells when it was made", () => {
  expect(madeAt("01a229f7-476c-77cf-826f-b34683bf9dcc")?.toISOString()).toBe("2026-11-30T01:00:01.260Z");
  expect(madeAt("01a229f7-476c-47cf-826f-b34683bf9dcc")).toBeUndefined();
  expect(madeAt("x")).toBeUndefined();
});
