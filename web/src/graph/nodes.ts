import type { Node } from "@xyflow/react";
import type { Schemas } from "../api/client";
import type { Drawing } from "./condense";
import type { Facts } from "./facts";
import { nodeSize, type Layout } from "./shape";

/** What the box of a stage is drawn from. */
export interface StageNodeData extends Record<string, unknown> {
  spec: Schemas["GraphStage"];
  status: Schemas["StageStatus"] | undefined;
  facts: Facts | undefined;
}

export type StageNodeType = Node<StageNodeData, "stage">;
export type GraphNode = StageNodeType | Node<Record<string, never>, "joint">;

/**
 * Makes the boxes of a graph. A box of which nothing has changed since the last time is the same object, so that it is not drawn again:
 * in a run of 500 stages a frame of the stream changes a few.
 */
export class NodeMaker {
  #last = new Map<string, GraphNode>();
  #list: GraphNode[] = [];

  make(stages: readonly Schemas["GraphStage"][], drawing: Drawing, layout: Layout, statuses?: ReadonlyMap<string, Schemas["StageStatus"]>, facts?: ReadonlyMap<string, Facts>): GraphNode[] {
    const next = new Map<string, GraphNode>();
    for (const spec of stages) {
      const position = layout.nodes[spec.name] ?? { x: 0, y: 0 };
      const data = { spec, status: statuses?.get(spec.name), facts: facts?.get(spec.name) };
      const old = this.#last.get(spec.name);
      const same = old?.type === "stage" && old.data.spec === spec && old.data.status === data.status && old.data.facts === data.facts && old.position === position;
      next.set(spec.name, same ? old : { id: spec.name, type: "stage", position, ...nodeSize(spec), data });
    }
    for (const id of drawing.joints) {
      const position = layout.nodes[id] ?? { x: 0, y: 0 };
      const old = this.#last.get(id);
      next.set(id, old?.position === position ? old : { id, type: "joint", position, width: 10, height: 10, data: {} });
    }
    this.#last = next;
    const list = [...next.values()];
    // If nothing has changed, so is the list, and the canvas has nothing to look through.
    if (list.length !== this.#list.length || list.some((n, i) => n !== this.#list[i])) this.#list = list;
    return this.#list;
  }
}
