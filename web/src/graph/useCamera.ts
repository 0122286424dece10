import { getViewportForBounds, useReactFlow, useStoreApi } from "@xyflow/react";
import { useCallback, useEffect, useRef } from "react";
import type { GraphNode } from "./nodes";
import { nodeSize, type Layout } from "./shape";

export const minZoom = 0.02;
export const maxZoom = 2;

/** What moves the view of a graph. */
export interface Camera {
  /** Shows the whole graph, at its own size at most, and keeps it in sight until the reader moves it. */
  fit: () => void;
  zoomBy: (factor: number) => void;
  /** Brings a stage into sight if it is not. */
  show: (node: GraphNode) => void;
  /** The reader has moved the view: it stays where it is. */
  hold: () => void;
}

/** The camera of the graph in `box`; it fits whenever the layout changes. */
export function useCamera(box: React.RefObject<HTMLElement | null>, layout: Layout): Camera {
  const { setViewport, setCenter, zoomTo, getZoom } = useReactFlow<GraphNode>();
  const store = useStoreApi();
  const held = useRef(false);
  const hold = useCallback(() => {
    held.current = true;
  }, []);
  const fit = useCallback(() => {
    const { width, height } = store.getState();
    held.current = false;
    if (width === 0 || height === 0) return;
    void setViewport(getViewportForBounds({ x: 0, y: 0, width: layout.width, height: layout.height }, width, height, minZoom, 1, 0.04));
  }, [setViewport, store, layout]);
  useEffect(() => {
    fit();
    const watch = new ResizeObserver(() => requestAnimationFrame(() => !held.current && fit()));
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, [fit, box]);
  const zoomBy = (factor: number) => {
    hold();
    void zoomTo(getZoom() * factor);
  };
  const show = (node: GraphNode) => {
    const { width, height, transform } = store.getState();
    const [x, y, scale] = transform;
    const size = node.type === "stage" ? nodeSize(node.data.spec) : { width: 10, height: 10 };
    const left = node.position.x * scale + x;
    const top = node.position.y * scale + y;
    if (left >= 8 && top >= 8 && left + size.width * scale <= width - 8 && top + size.height * scale <= height - 8) return;
    hold();
    void setCenter(node.position.x + size.width / 2, node.position.y + size.height / 2, { zoom: scale });
  };
  return { fit, zoomBy, show, hold };
}
