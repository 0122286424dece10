import { describe, expect, it } from "vitest";
import { accept, suggest, type Known } from "./suggest";

const known: Known = { flows: ["daily-recon", "billing", "big daily"], queues: ["default", "nightly"], triggers: ["api", "cli"], params: ["date"], tags: ["team=etl"] };
const texts = (q: string, caret = q.length) => suggest(q, caret, known).map((s) => s.text);

describe("suggest", () => {
  it("begins with the keys that are not used yet, the flow's params too", () => {
    expect(texts("")).toContain("flow:");
    expect(texts("")).toContain("param.date:");
    expect(texts("flow:billing ")).not.toContain("flow:");
    expect(texts("tag:a=b ")).toContain("tag:");
  });
  it("completes a key", () => {
    expect(texts("st")).toEqual(["state:"]);
    expect(texts("par")).toEqual(["parent:", "param.date:"]);
    expect(texts("para")).toEqual(["param.date:"]);
  });
  it("finds the term of a value that was typed without its key", () => {
    expect(texts("fail")).toEqual(["state:failed"]);
    expect(texts("daily")).toEqual(["flow:daily-recon", 'flow:"big daily"']);
  });
  it("completes values, and none twice", () => {
    expect(texts("flow:bi")).toEqual(["billing", '"big daily"']);
    expect(texts("flow:billing,")).toEqual(["daily-recon", '"big daily"']);
    expect(texts("state:run")).toEqual(["running"]);
    expect(texts("queue:")).toEqual(["default", "nightly"]);
    expect(texts("param.date:")).toEqual([]);
  });
  it("looks at the term with the caret", () => {
    expect(texts("state:ru flow:billing", 8)).toEqual(["running"]);
  });
});

const take = (q: string, caret = q.length) => {
  const [first] = suggest(q, caret, known);
  if (!first) throw new Error("nothing was suggested");
  return accept(q, first);
};

describe("accept", () => {
  it("puts the caret where typing goes on", () => {
    expect(take("st")).toEqual({ q: "state:", caret: 6 });
    expect(take("state:fa")).toEqual({ q: "state:failed ", caret: 13 });
    expect(take("state:failed,ca")).toEqual({ q: "state:failed,cancelling ", caret: 24 });
  });
  it("replaces the whole value and keeps what comes after", () => {
    expect(take("state:ru flow:billing", 8)).toEqual({ q: "state:running flow:billing", caret: 14 });
  });
});
