import type { Schemas } from "../api/client";
import { condense, type Drawing } from "./condense";

/** A graph as the layout sees it: boxes of fixed sizes, in px, and what points where. Nothing of a run is in it. */
export interface Shape {
  nodes: { id: string; width: number; height: number }[];
  edges: { from: string; to: string }[];
}

export interface Point {
  x: number;
  y: number;
}

/** Where everything is: the top left corners of boxes, and the ways of edges from the right side of one box to the left side of another. */
export interface Layout {
  width: number;
  height: number;
  nodes: Record<string, Point>;
  /** In the order of the shape's edges. */
  edges: Point[][];
}

/** Sizes of a stage's box by its kind. They are the same in every state, so that positions never depend on a run. */
export const nodeSize = (stage: Pick<Schemas["GraphStage"], "kind">): { width: number; height: number } => ({ width: 224, height: stage.kind === "sharded" ? 82 : 52 });

const jointSize = { width: 10, height: 10 };

/** What is laid out of a graph, and what is drawn of it; implied links have no way of their own. */
export function shapeOf(stages: readonly Schemas["GraphStage"][]): { shape: Shape; drawing: Drawing } {
  const drawing = condense(stages);
  return {
    drawing,
    shape: {
      nodes: [...stages.map((s) => ({ id: s.name, ...nodeSize(s) })), ...drawing.joints.map((id) => ({ id, ...jointSize }))],
      edges: drawing.links.filter((l) => !l.implied).map(({ from, to }) => ({ from, to })),
    },
  };
}

/** The way of each link, in the order of the drawing: the layout's, or a straight one for links that are implied. */
export function waysOf(drawing: Drawing, layout: Layout, specs: ReadonlyMap<string, Pick<Schemas["GraphStage"], "kind">>): Point[][] {
  let place = 0;
  const out: Point[][] = [];
  for (const l of drawing.links) {
    if (!l.implied) {
      out.push(layout.edges[place] ?? []);
      place++;
      continue;
    }
    const a = layout.nodes[l.from];
    const b = layout.nodes[l.to];
    const from = specs.get(l.from);
    const to = specs.get(l.to);
    if (!a || !b || !from || !to) out.push([]);
    else out.push([{ x: a.x + nodeSize(from).width, y: a.y + nodeSize(from).height / 2 }, { x: b.x, y: b.y + nodeSize(to).height / 2 }]);
  }
  return out;
}
