import { expect, test } from "vitest";
import { condense } from "./condense";
import { curve, head, nearest, sample } from "./curves";
import { litLinks } from "./lit";
import { looks } from "./looks";
import { nodeName } from "./nodeName";
import { NodeMaker } from "./nodes";
import { nodeSize, shapeOf, waysOf } from "./shape";
import { grid } from "./grid";

const spec = (name: string, upstreams: string[] = [], more: object = {}) => ({ name, kind: "single" as const, upstreams, rule: "all_success", retry: { max_attempts: 1 }, timeout: {}, ...more });
const status = (name: string, more: object = {}) => ({ name, kind: "single" as const, state: "running" as const, generation: 1, total: 1, succeeded: 0, ready: 0, in_flight: 1, dead: 0, parked: 0, ...more });

test("curves are level at their ends", () => {
  expect(curve([{ x: 0, y: 0 }, { x: 100, y: 40 }])).toBe("M0 0C50 0 50 40 100 40");
  expect(curve([{ x: 0, y: 5 }, { x: 100, y: 5 }])).toBe("M0 5H100");
  expect(curve([])).toBe("");
  expect(head([{ x: 0, y: 0 }, { x: 100, y: 40 }])).toBe("M100 40l-8 -4v8z");
});

test("the nearest line is found, within reach", () => {
  const lines = [sample([{ x: 0, y: 0 }, { x: 100, y: 0 }]), sample([{ x: 0, y: 50 }, { x: 100, y: 100 }])];
  expect(lines[1]?.at(-1)).toEqual({ x: 100, y: 100 });
  expect(lines[1]?.[4]).toEqual({ x: 50, y: 75 }); // a curve is in the middle half way
  expect(nearest(lines, { x: 50, y: 3 }, 5)).toBe(0);
  expect(nearest(lines, { x: 50, y: 72 }, 5)).toBe(1);
  expect(nearest(lines, { x: 50, y: 30 }, 5)).toBeUndefined();
  expect(nearest([[]], { x: 0, y: 0 }, 5)).toBeUndefined();
});

test("links look like what they wait for", () => {
  const stages = [spec("a"), spec("b", ["a"], { rule: "all_done" }), spec("c", ["b"], { aligned_to: "b", kind: "sharded" }), spec("d", ["c"], { teardown_of: "a" })];
  const { links } = condense(stages);
  const specs = new Map(stages.map((s) => [s.name, s]));
  expect(looks(links, specs).map((l) => `${l.kind} ${l.state}`)).toEqual(["done plain", "aligned plain", "teardown plain"]);
  expect(looks(links, specs, new Map([["a", "succeeded"], ["b", "running"], ["c", "upstream_failed"]])).map((l) => l.state)).toEqual(["done", "live", "bad"]);
});

test("behind a joint a link is done when all before it is", () => {
  const ups = ["a", "b", "c"];
  const stages = [...ups.map((n) => spec(n)), ...["x", "y", "z"].map((n) => spec(n, ups))];
  const { links } = condense(stages);
  const specs = new Map(stages.map((s) => [s.name, s]));
  const behind = (a: "succeeded" | "failed" | "skipped" | "running", b: "succeeded" | "waiting" | "skipped") => looks(links, specs, new Map([["a", a], ["b", b], ["c", b]])).at(-1)?.state;
  expect([behind("succeeded", "succeeded"), behind("succeeded", "skipped"), behind("skipped", "skipped"), behind("failed", "waiting"), behind("running", "waiting")]).toEqual(["done", "done", "off", "bad", "live"]);
});

test("a hover lights links through joints, a pin those between its stages", () => {
  const ups = ["a", "b", "c"];
  const { links } = condense([...ups.map((n) => spec(n)), ...["x", "y", "z"].map((n) => spec(n, ups))]);
  const names = (places: number[]) => places.map((i) => `${links[i]?.from}>${links[i]?.to}`.replaceAll("joint 0", "•")).join(" ");
  expect(names(litLinks(links, "x"))).toBe("a>• b>• c>• •>x");
  expect(names(litLinks(links, "a"))).toBe("a>• •>x •>y •>z");
  expect(names(litLinks(links, "x", new Set(["a", "b", "c", "x"])))).toBe("a>• b>• c>• •>x");
  expect(names(litLinks(links, "a", new Set(["a"])))).toBe("");
});

test("a stage's box has a name", () => {
  expect(nodeName(spec("load", [], { kind: "sharded" }), status("load", { kind: "sharded", total: 2000, succeeded: 1204, dead: 3 }))).toBe("load: running, 1,204 of 2,000 shards, 3 dead");
  expect(nodeName(spec("load", [], { kind: "sharded" }), status("load", { kind: "sharded", total: -1, state: "planning" }))).toBe("load: planning");
  expect(nodeName(spec("a"), status("a", { state: "upstream_failed" }), { held: "run is paused", retrying: 2 })).toBe("a: upstream failed, 2 backing off, run is paused");
  expect(nodeName(spec("bill", [], { child: "invoicing", conditional: true }))).toBe("bill: sub-flow invoicing, conditional");
  expect(nodeName(spec("a"))).toBe("a: single");
});

test("boxes of stages that did not change stay the same objects", () => {
  const stages = [spec("a"), spec("b", ["a"])];
  const { shape, drawing } = shapeOf(stages);
  const layout = grid(shape);
  const maker = new NodeMaker();
  const a = status("a");
  const b = status("b");
  const before = maker.make(stages, drawing, layout, new Map([["a", a], ["b", b]]));
  expect(maker.make(stages, drawing, layout, new Map([["a", a], ["b", b]]))).toBe(before);
  const after = maker.make(stages, drawing, layout, new Map([["a", a], ["b", status("b", { ready: 1 })]]));
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  expect(after[1]?.position).toBe(before[1]?.position);
});

test("links that are implied go straight", () => {
  const stages = [spec("a"), spec("b", ["a"]), spec("c", ["a", "b"])];
  const { shape, drawing } = shapeOf(stages);
  const layout = grid(shape);
  const points = waysOf(drawing, layout, new Map(stages.map((s) => [s.name, s])));
  const place = drawing.links.findIndex((l) => l.implied);
  expect(points).toHaveLength(3);
  expect(points[place]?.[0]?.x).toBe((layout.nodes["a"]?.x ?? 0) + nodeSize({ kind: "single" }).width);
  expect(points[place]?.[1]?.x).toBe(layout.nodes["c"]?.x);
});
