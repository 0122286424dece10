import { describe, expect, it } from "vitest";
import { quote, terms, toggled, valuesOf, withValues, without, write } from "./query";

describe("terms", () => {
  it("reads keys, values and places", () => {
    expect(terms("  flow:a,b state:failed ")).toEqual([
      { from: 2, to: 10, key: "flow", values: ["a", "b"], last: 9, closed: true },
      { from: 11, to: 23, key: "state", values: ["failed"], last: 17, closed: true },
    ]);
  });
  it("reads quotes, escapes and blanks within them", () => {
    const [tag] = terms(String.raw`tag:"team=a \"b\" c\\"`);
    expect(tag?.values).toEqual([String.raw`team=a "b" c\ `.trimEnd()]);
  });
  it("reads a word alone as a run's id, and a quote that is not closed to the end", () => {
    expect(terms("0192f1c2")[0]).toMatchObject({ key: "", values: ["0192f1c2"] });
    expect(terms('tag:"a b c:d')).toEqual([{ from: 0, to: 12, key: "tag", values: ["a b c:d"], last: 4, closed: false }]);
  });
  it("leaves later colons to the value", () => {
    expect(terms("since:2026-11-01T06:00:00Z")[0]).toMatchObject({ key: "since", values: ["2026-11-01T06:00:00Z"] });
  });
  it("knows terms that are begun", () => {
    expect(terms("state:")[0]).toMatchObject({ key: "state", values: [""], last: 6 });
    expect(terms("state:failed,")[0]).toMatchObject({ values: ["failed", ""], last: 13 });
    expect(terms("")).toEqual([]);
  });
});

describe("writing", () => {
  it("quotes what must be quoted", () => {
    expect(quote("plain", true)).toBe("plain");
    expect(quote("a b", false)).toBe('"a b"');
    expect(quote("a,b", true)).toBe('"a,b"');
    expect(quote("a,b", false)).toBe("a,b");
    expect(quote('a"b\\', false)).toBe('"a\\"b\\\\"');
    expect(quote("", false)).toBe('""');
  });
  it("is read again as it was written", () => {
    for (const values of [["a b", "c,d", 'e"f\\'], ["x"]]) expect(terms(write("flow", values))[0]?.values).toEqual(values);
  });
});

describe("changing", () => {
  it("changes a term in its place and adds at the end", () => {
    expect(withValues("flow:a state:failed tag:x=1", "state", ["running"])).toBe("flow:a state:running tag:x=1");
    expect(withValues("flow:a ", "since", ["24h"])).toBe("flow:a since:24h");
    expect(withValues("flow:a state:failed", "flow", [])).toBe("state:failed");
    expect(withValues("flow:a", "state", [])).toBe("flow:a");
  });
  it("merges a key that stands twice", () => {
    expect(withValues("flow:a state:x flow:b", "flow", ["c"])).toBe("flow:c state:x");
  });
  it("toggles alternatives, and replaces where a key takes one value", () => {
    expect(toggled("state:failed", "state", "running")).toBe("state:failed,running");
    expect(toggled("state:failed,running", "state", "failed")).toBe("state:running");
    expect(toggled("state:failed", "state", "failed")).toBe("");
    expect(toggled("since:24h", "since", "7d")).toBe("since:7d");
  });
  it("takes terms out and tells values", () => {
    expect(without("a:1 b:2 c:3", 1)).toBe("a:1 c:3");
    expect(valuesOf("state:failed,", "state")).toEqual(["failed"]);
    expect(valuesOf("version:ab,cd", "version")).toEqual(["ab,cd"]);
    expect(valuesOf("state:failed", "flow")).toEqual([]);
  });
});
