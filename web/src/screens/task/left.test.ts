import { expect, test } from "vitest";
import { left } from "./left";

const t = (s: number): string => new Date(s * 1000).toISOString();

test.each([
  ["a quarter in 10 s leaves 30 s", { started_at: t(0), reported_at: t(10), done: 25, total: 100 }, 10, 30],
  ["two seconds later 28 s", { started_at: t(0), reported_at: t(10), done: 25, total: 100 }, 12, 28],
  ["long overdue is none", { started_at: t(0), reported_at: t(10), done: 50, total: 100 }, 100, 0],
  ["all done", { started_at: t(0), reported_at: t(10), done: 100, total: 100 }, 10, 0],
  ["too early", { started_at: t(0), reported_at: t(4), done: 1, total: 2 }, 4, undefined],
  ["no total", { started_at: t(0), reported_at: t(10), done: 1 }, 10, undefined],
  ["more than all", { started_at: t(0), reported_at: t(10), done: 3, total: 2 }, 10, undefined],
  ["nothing yet", { started_at: t(0), reported_at: t(10), done: 0, total: 2 }, 10, undefined],
])("%s", (_, running, now, want) => expect(left(running, now * 1000)).toBe(want));
