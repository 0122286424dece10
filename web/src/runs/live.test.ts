import { describe, expect, it } from "vitest";
import { aRun } from "./fixture";
import { holdsRun, inReach, inserted, nothingWaits, updated, waiting, type Pages } from "./live";

const run = (id: string, etag = 1, over = {}) => aRun({ id, etag, ...over });
const two: Pages = {
  pages: [{ items: [run("9"), run("7")], next_cursor: "c" }, { items: [run("5")], next_cursor: "d" }],
  pageParams: [undefined, "c"],
};
const ids = (data: Pages) => data.pages.map((p) => p.items.map((r) => r.id).join(""));

describe("updated", () => {
  it("changes a run in its place, and nothing else", () => {
    const after = updated(two, run("5", 2, { state: "failed" }));
    expect(after.pages[1]?.items[0]).toMatchObject({ id: "5", state: "failed" });
    expect(after.pages[0]).toBe(two.pages[0]);
  });
  it("keeps what is newer, and the same object if nothing changed", () => {
    const after = updated(two, run("5", 2, { state: "failed" }));
    expect(updated(after, run("5", 1))).toBe(after);
    expect(updated(two, run("5", 1))).toBe(two);
    expect(updated(two, run("4", 9))).toBe(two);
  });
  it("takes a tally that moved without the run", () => {
    expect(updated(two, run("5", 1, { stages: { running: 1 } })).pages[1]?.items[0]?.stages).toEqual({ running: 1 });
  });
});

describe("inserted", () => {
  it("puts runs where their ids belong, each once", () => {
    expect(ids(inserted(two, [run("a"), run("8"), run("6"), run("7")]))).toEqual(["a987", "65"]);
  });
  it("puts what is older than all at the end, and fills an empty list", () => {
    expect(ids(inserted(two, [run("1")]))).toEqual(["97", "51"]);
    expect(ids(inserted({ pages: [{ items: [] }], pageParams: [undefined] }, [run("1"), run("2")]))).toEqual(["21"]);
  });
});

it("knows what it holds, and how far it reaches", () => {
  expect(holdsRun(two, "7")).toBe(true);
  expect(holdsRun(two, "8")).toBe(false);
  expect(inReach(two, "6")).toBe(true);
  expect(inReach(two, "4")).toBe(false);
  expect(inReach({ pages: [{ items: [run("9")] }], pageParams: [undefined] }, "1")).toBe(true);
  expect(inReach({ pages: [{ items: [], next_cursor: "x" }], pageParams: [undefined] }, "1")).toBe(false);
});

describe("waiting", () => {
  it("keeps each run once, in its newest form", () => {
    let w = waiting(nothingWaits, run("a", 1), "yes");
    w = waiting(w, run("a", 2, { state: "failed" }), "yes");
    w = waiting(w, run("a", 1), "yes");
    expect([...w.runs.values()]).toMatchObject([{ id: "a", state: "failed" }]);
  });
  it("forgets what the search would not find any more", () => {
    expect(waiting(waiting(nothingWaits, run("a"), "yes"), run("a", 2), "no").runs.size).toBe(0);
    expect(waiting(nothingWaits, run("a"), "no")).toBe(nothingWaits);
  });
  it("says that there is more when it cannot tell or there are too many", () => {
    expect(waiting(nothingWaits, run("a"), "maybe")).toEqual({ runs: new Map(), more: true });
    let w = nothingWaits;
    for (let i = 0; i < 201; i++) w = waiting(w, run(`r${i}`), "yes");
    expect([w.runs.size, w.more]).toEqual([200, true]);
  });
});
