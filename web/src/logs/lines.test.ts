import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { hits, nextHit, pieces } from "./find";
import { add, attributesText, compare, levelOf, lineText, noLines } from "./lines";

const line = (at: string, message: string, more: Partial<Schemas["LogLine"]> = {}): Schemas["LogLine"] => ({ at: `2026-11-29T12:00:${at}Z`, level: "info", message, stage: "load", shard: 3, attempt: 1, ...more });
const messages = (l: { list: readonly { message: string }[] }): string => l.list.map((x) => x.message).join(" ");

test("pages are put one after the other, late lines where they belong", () => {
  let l = add(noLines, [line("01", "a"), line("03", "c")]);
  l = add(l, [line("04", "d")]);
  l = add(l, [line("02", "b"), line("05", "e")]);
  expect(messages(l)).toBe("a b c d e");
  expect(add(l, [])).toBe(l);
});

test("times with fewer digits come before those with more", () => {
  expect(compare("2026-11-29T12:00:01Z", "2026-11-29T12:00:01.5Z")).toBe(-1);
  expect(compare("2026-11-29T12:00:01.25Z", "2026-11-29T12:00:01.3Z")).toBe(-1);
  expect(messages(add(add(noLines, [line("01.5", "b")]), [line("01", "a")]))).toBe("a b");
});

test("lines of one time keep their order and have keys of their own, the same in every reading", () => {
  const page = [line("01", "a"), line("01", "b"), line("01", "c", { shard: 4 })];
  const whole = add(noLines, page);
  expect(whole.list.map((x) => x.key)).toEqual(["2026-11-29T12:00:01Z@load/3/1", "2026-11-29T12:00:01Z@load/3/1+1", "2026-11-29T12:00:01Z@load/4/1"]);
  const cut = add(add(noLines, page.slice(0, 1)), page.slice(1));
  expect(cut.list).toEqual(whole.list);
});

test("the oldest lines go when there are too many", () => {
  const l = add(add(noLines, [line("01", "a"), line("02", "b")], 3), [line("03", "c"), line("04", "d")], 3);
  expect(messages(l)).toBe("b c d");
  expect(l.gone).toBe(1);
});

test("a line as text", () => {
  const l = line("01", "stored", { level: "warn", attributes: { page: 3, at: "a b", deep: { x: [1] } }, dropped: 7 });
  expect(attributesText(l)).toBe('page=3 at="a b" deep={"x":[1]}');
  expect(lineText(l)).toBe('2026-11-29T12:00:01Z … 7 lines were dropped here\n2026-11-29T12:00:01Z WARN  load[3]#1 stored page=3 at="a b" deep={"x":[1]}');
});

test("what is looked for is cut out", () => {
  expect(pieces("Error: an error", "error")).toEqual([{ text: "Error", hit: true, at: 0 }, { text: ": an ", hit: false, at: 5 }, { text: "error", hit: true, at: 10 }]);
  expect(pieces("abc", "")).toEqual([{ text: "abc", hit: false, at: 0 }]);
  expect(pieces("abc", "z")).toEqual([{ text: "abc", hit: false, at: 0 }]);
  expect(pieces("aaa", "aa")).toEqual([{ text: "aa", hit: true, at: 0 }, { text: "a", hit: false, at: 2 }]);
  expect(pieces("İstanbul a", "a").map((p) => p.text).join("")).toBe("İstanbul a");
});

test("hits, and the way from one to the next", () => {
  const { list } = add(noLines, [line("01", "Timeout"), line("02", "ok"), line("03", "x", { attributes: { why: "timeout" } })]);
  expect(hits(list, "TIMEOUT")).toEqual([0, 2]);
  expect(hits(list, "")).toEqual([]);
  expect([nextHit([0, 2], -1, 1), nextHit([0, 2], 0, 1), nextHit([0, 2], 2, 1), nextHit([0, 2], 1, -1), nextHit([0, 2], 0, -1), nextHit([], 0, 1)]).toEqual([0, 2, 0, 0, 2, undefined]);
});

test("levels", () => expect([levelOf("warn"), levelOf("WARN"), levelOf(undefined)]).toEqual(["warn", "debug", "debug"]));
