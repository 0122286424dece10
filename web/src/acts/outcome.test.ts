import { expect, test } from "vitest";
import { extent, lines, outcomeOf, refusals } from "./outcome";

const a = "01937f2e-5b7e-7cc3-98c4-dc0c0c07398f";
const b = "01937f2e-5b7e-7cc3-98c4-dc0c0c073990";

test("an act on one run tells each stage and its shards", () => {
  const o = outcomeOf({
    dry_run: true,
    touched: [
      { run: a, what: "is open again, it was failed" },
      { run: a, stage: "load", shards: "0-99,117", tasks: 101, what: "runs again as attempt 4" },
      { run: a, stage: "join", what: "waits again" },
    ],
  });
  expect(extent(o)).toBe("2 stages, 101 shards");
  expect(lines(o)).toEqual([
    { about: "run", what: "is open again, it was failed", runs: 1 },
    { about: "load · shards 0-99,117 (101)", what: "runs again as attempt 4", runs: 1 },
    { about: "join", what: "waits again", runs: 1 },
  ]);
});

test("nothing to do is nothing", () => {
  const o = outcomeOf({ dry_run: true, touched: [] });
  expect(extent(o)).toBe("");
  expect(lines(o)).toEqual([]);
});

test("long sets of shards are cut at an interval", () => {
  const set = Array.from({ length: 40 }, (_, i) => i * 2).join(",");
  const [line] = lines(outcomeOf({ dry_run: true, touched: [{ run: a, stage: "load", shards: set, tasks: 40, what: "x" }] }));
  expect(line?.about).toMatch(/^load · shards (\d+,)+… \(40\)$/);
});

test("over many runs the same is one line, and refusals are counted by their reason", () => {
  const o = outcomeOf({
    dry_run: false,
    more: true,
    failed: 1,
    runs: [
      { run: a, flow: "f", touched: [{ run: a, stage: "load", shards: "3", tasks: 1, what: "runs again as attempt 4" }] },
      { run: b, flow: "f", touched: [{ run: b, stage: "load", shards: "0-1", tasks: 2, what: "runs again as attempt 2" }] },
      { run: "c", flow: "g", touched: [], error: { code: "conflict", detail: "run c has succeeded already" } },
      { run: "d", flow: "g", touched: [], error: { code: "conflict", detail: "run d has succeeded already" } },
    ],
  });
  expect(o.more).toBe(true);
  expect(extent(o)).toBe("2 runs, 2 stages, 3 shards");
  expect(lines(o)).toEqual([{ about: "load · 3 shards", what: "runs again as attempt …", runs: 2 }]);
  expect(refusals(o)).toMatchObject([{ detail: "run has succeeded already", runs: [{ run: "c" }, { run: "d" }] }]);
});

test("a replay says how many dead letters", () => {
  expect(lines(outcomeOf({ state: "canary", filter: {}, total: 1200, moved: 0, failed: 0, canary: 10 }))[0]?.what).toBe("1,200 dead letters: 10 first, then the rest");
  expect(outcomeOf({ state: "done", filter: {}, total: 0, moved: 0, failed: 0 }).touched).toEqual([]);
});
