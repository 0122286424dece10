import { expect, test } from "vitest";
import { match, ranked } from "./match";

const order = (typed: string, ...texts: string[]) => ranked(typed, texts, (t) => t).map((r) => r.item);

test("nothing typed matches everything, in its order", () => {
  expect(order("", "b", "a")).toEqual(["b", "a"]);
  expect(order("   ", "b", "a")).toEqual(["b", "a"]);
});

test("beginnings come before insides, insides before scattered letters", () => {
  expect(order("run", "Prune", "Start a run", "Runs", "Rest until noon")).toEqual(["Runs", "Start a run", "Prune", "Rest until noon"]);
});

test("every word must be there, in any order", () => {
  expect(order("recon start", "Start a run of daily-recon", "Flow daily-recon", "Start a run of billing")).toEqual(["Start a run of daily-recon"]);
});

test("initials of words find it", () => {
  expect(match("dl", "Dead letters")?.at).toEqual([0, 5]);
  expect(order("dl", "Handle", "Dead letters")).toEqual(["Dead letters", "Handle"]);
});

test("letters out of order do not match", () => {
  expect(match("nur", "run")).toBeUndefined();
  expect(match("runs", "run")).toBeUndefined();
});

test("it says which letters matched, upper or lower case", () => {
  expect(match("FLOW", "Flows")?.at).toEqual([0, 1, 2, 3]);
  expect(match("let", "Dead letters")?.at).toEqual([5, 6, 7]);
});

test("the shorter of two equal matches comes first", () => {
  expect(order("queue", "Queues and pools", "Queues")).toEqual(["Queues", "Queues and pools"]);
});
