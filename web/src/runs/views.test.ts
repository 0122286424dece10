import { describe, expect, it } from "vitest";
import { added, fixedViews, nameFault, readViews, removed, renamed, startOfDay, storeViews } from "./views";

const kept = (text: string | null) => ({ getItem: () => text });

describe("views", () => {
  it("come back as they were stored", () => {
    let text = "";
    storeViews({ setItem: (_, v) => (text = v) }, [{ name: "Mine", q: "tag:owner=me" }]);
    expect(readViews(kept(text))).toEqual([{ name: "Mine", q: "tag:owner=me" }]);
  });
  it("are none where nothing readable was stored, and the readable ones where some is", () => {
    expect(readViews(kept(null))).toEqual([]);
    expect(readViews(kept("{broken"))).toEqual([]);
    expect(readViews(kept('[{"name":"a","q":"b"},{"name":1},null,{"name":"","q":""}]'))).toEqual([{ name: "a", q: "b" }]);
  });
  it("tell that nothing is kept where storage is switched off", () => {
    const off = {
      setItem: () => {
        throw new Error("denied");
      },
    };
    expect(storeViews(off, [])).toBe(false);
  });
  it("are added, renamed and removed", () => {
    const one = added([], " Mine ", "x");
    expect(one).toEqual([{ name: "Mine", q: "x" }]);
    expect(renamed(one, "Mine", "Ours")).toEqual([{ name: "Ours", q: "x" }]);
    expect(removed(one, "Mine")).toEqual([]);
  });
  it("need a name that is free", () => {
    expect(nameFault("  ", [])).toBeDefined();
    expect(nameFault("running", fixedViews(new Date(0)))).toContain("already");
    expect(nameFault("Mine", [{ name: "Mine", q: "" }], "Mine")).toBeUndefined();
    expect(nameFault("x".repeat(61), [])).toContain("61");
  });
});

it("knows when today began, by zone", () => {
  const now = new Date("2026-11-29T01:30:05.250Z");
  expect(startOfDay(now, "UTC").toISOString()).toBe("2026-11-29T00:00:00.000Z");
  expect(startOfDay(now, "America/New_York").toISOString()).toBe("2026-11-28T05:00:00.000Z");
  expect(fixedViews(startOfDay(now, "UTC"))[2]?.q).toBe("state:failed since:2026-11-29T00:00:00Z");
});
