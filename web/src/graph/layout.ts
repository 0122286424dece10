import { graphlib, layout as dagre } from "@dagrejs/dagre";
import type { Layout, Point, Shape } from "./shape";

/** Above so many nodes the ordering within columns takes the quick way: the exact one takes seconds and looks the same. */
const large = 200;

/** Lays a graph out from left to right. The same shape always gives the same layout. */
export function layOut(shape: Shape): Layout {
  const g = new graphlib.Graph();
  g.setGraph({ rankdir: "LR", ranker: "tight-tree", nodesep: 18, edgesep: 10, ranksep: 64, marginx: 0, marginy: 0 });
  g.setDefaultEdgeLabel(() => ({}));
  for (const n of shape.nodes) g.setNode(n.id, { width: n.width, height: n.height });
  for (const e of shape.edges) g.setEdge(e.from, e.to);
  dagre(g, { disableOptimalOrderHeuristic: shape.nodes.length > large });
  const nodes: Record<string, Point> = {};
  let width = 0;
  let height = 0;
  for (const n of shape.nodes) {
    const { x, y } = g.node(n.id) as unknown as Point; // dagre writes centres into the labels; its types do not say so
    nodes[n.id] = { x: Math.round(x - n.width / 2), y: Math.round(y - n.height / 2) };
    width = Math.max(width, Math.round(x + n.width / 2));
    height = Math.max(height, Math.round(y + n.height / 2));
  }
  const size = new Map(shape.nodes.map((n) => [n.id, n]));
  const half = Math.max(0, ...shape.nodes.map((n) => n.width)) / 2;
  const edges = shape.edges.map(({ from, to }) => {
    const { points } = g.edge(from, to) as unknown as { points: Point[] }; // likewise
    const a = size.get(from);
    const b = size.get(to);
    const start = nodes[from];
    const end = nodes[to];
    if (!a || !b || !start || !end) return [];
    // It leaves in the middle of the right side and arrives in the middle of the left one; dagre's own ends are where the centres' line cuts the boxes.
    // Of its points in between, every other one lies between two columns and only makes a line wind; those in a column lie between two boxes, so the line is level there.
    return [
      { x: start.x + a.width, y: start.y + a.height / 2 },
      ...points.slice(1, -1).flatMap((p, at) => (at % 2 === 0 ? [] : [through(p, -half), through(p, half)])),
      { x: end.x, y: end.y + b.height / 2 },
    ];
  });
  return { width, height, nodes, edges };
}

/** A point beside another one, at the side of the column that it is in. */
const through = (p: Point, by: number): Point => ({ x: Math.round(p.x + by), y: Math.round(p.y) });
