import { describe, expect, test } from "vitest";
import { grid } from "./grid";
import { layOut } from "./layout";
import type { Layout, Shape } from "./shape";

/** Numbers from a seed, so that a graph is the same every time. */
function random(seed: number): () => number {
  let s = seed;
  return () => (s = (s * 48271) % 2147483647) / 2147483647;
}

/** A graph without cycles: edges lead from earlier nodes to later ones. */
function made(seed: number, nodes: number, edges: number): Shape {
  const r = random(seed);
  const pairs = new Set<string>();
  for (let i = 0; i < edges; i++) {
    const to = 1 + Math.floor(r() * (nodes - 1));
    const from = Math.max(0, to - 1 - Math.floor(r() * 12));
    pairs.add(`${from} ${to}`);
  }
  return {
    nodes: Array.from({ length: nodes }, (_, i) => ({ id: `n${i}`, width: 224, height: i % 3 === 0 ? 82 : 52 })),
    edges: [...pairs].map((p) => ({ from: `n${p.split(" ")[0]}`, to: `n${p.split(" ")[1]}` })),
  };
}

const shapes: [string, Shape][] = [
  ["nothing", { nodes: [], edges: [] }],
  ["one", made(1, 1, 0)],
  ["loose ones", made(2, 5, 0)],
  ["a chain", { nodes: made(3, 6, 0).nodes, edges: [0, 1, 2, 3, 4].map((i) => ({ from: `n${i}`, to: `n${i + 1}` })) }],
  ["a few", made(4, 20, 30)],
  ["many", made(5, 70, 150)],
];

const overlaps = (shape: Shape, at: Layout): string[] => {
  const found: string[] = [];
  shape.nodes.forEach((a, i) => {
    for (const b of shape.nodes.slice(i + 1)) {
      const p = at.nodes[a.id];
      const q = at.nodes[b.id];
      if (!p || !q) found.push(`${a.id} or ${b.id} has no place`);
      else if (p.x < q.x + b.width && q.x < p.x + a.width && p.y < q.y + b.height && q.y < p.y + a.height) found.push(`${a.id} lies on ${b.id}`);
    }
  });
  return found;
};

describe.each([
  ["the layout", layOut],
  ["the grid", grid],
])("%s", (_, lay) => {
  test.each(shapes)("of %s: no two boxes overlap", (__, shape) => expect(overlaps(shape, lay(shape))).toEqual([]));

  test.each(shapes)("of %s: edges go from left to right, from box to box", (__, shape) => {
    const at = lay(shape);
    const size = new Map(shape.nodes.map((n) => [n.id, n]));
    expect(at.edges).toHaveLength(shape.edges.length);
    shape.edges.forEach(({ from, to }, i) => {
      const points = at.edges[i] ?? [];
      const a = at.nodes[from] ?? { x: Number.NaN, y: 0 };
      const b = at.nodes[to] ?? { x: Number.NaN, y: 0 };
      expect(points[0]).toEqual({ x: a.x + (size.get(from)?.width ?? 0), y: a.y + (size.get(from)?.height ?? 0) / 2 });
      expect(points.at(-1)).toEqual({ x: b.x, y: b.y + (size.get(to)?.height ?? 0) / 2 });
      points.reduce((x, p) => {
        expect(p.x).toBeGreaterThanOrEqual(x);
        return p.x;
      }, 0);
    });
  });

  test.each(shapes)("of %s: everything is within its size", (__, shape) => {
    const at = lay(shape);
    for (const n of shape.nodes) {
      const p = at.nodes[n.id] ?? { x: -1, y: -1 };
      expect(p.x).toBeGreaterThanOrEqual(0);
      expect(p.y).toBeGreaterThanOrEqual(0);
      expect(p.x + n.width).toBeLessThanOrEqual(at.width);
      expect(p.y + n.height).toBeLessThanOrEqual(at.height);
    }
  });

  test.each(shapes)("of %s: the same graph gives the same places", (__, shape) => expect(lay(structuredClone(shape))).toEqual(lay(shape)));
});

test("a grid of a graph with a cycle ends", () => {
  const shape: Shape = { nodes: made(1, 2, 0).nodes, edges: [{ from: "n0", to: "n1" }, { from: "n1", to: "n0" }] };
  expect(overlaps(shape, grid(shape))).toEqual([]);
});
