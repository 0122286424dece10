import { useEffect, useEffectEvent, useRef, useState, type RefObject } from "react";
import { pan, zoom, type Span } from "./zoom";

/** Where the pointer is: px from the top of the rows, and the time under it in ms. */
export interface Hover {
  /** From the left of the chart's body and the top of its rows, in px. */
  x: number;
  y: number;
  at: number;
}

/**
 * The pointer over the chart's body: Ctrl and the wheel zoom around it, Shift and the wheel or a drag move the time axis. Returns where it hovers and
 * what to put on the body. `plot` is the part of the body that has the time axis.
 */
export function useChartPointer(body: RefObject<HTMLElement | null>, plot: RefObject<HTMLElement | null>, span: Span, bounds: Span, setSpan: (span: Span) => void) {
  const [hover, setHover] = useState<Hover>();
  const [dragging, setDragging] = useState(false);
  const drag = useRef<{ x: number; span: Span; moved: boolean }>(undefined);

  const timeAt = (clientX: number): number => {
    const rect = plot.current?.getBoundingClientRect();
    return rect && rect.width > 0 ? span.from + ((clientX - rect.left) / rect.width) * (span.to - span.from) : span.from;
  };
  const msPerPx = (): number => (span.to - span.from) / Math.max(plot.current?.clientWidth ?? 1, 1);

  const wheel = useEffectEvent((event: WheelEvent) => {
    if (event.ctrlKey || event.metaKey) setSpan(zoom(span, timeAt(event.clientX), Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.005), bounds));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) setSpan(pan(span, (event.deltaX || event.deltaY) * msPerPx(), bounds));
    else return;
    event.preventDefault();
  });
  useEffect(() => {
    const element = body.current;
    if (!element) return;
    // React's own wheel listeners are passive: they could not keep the browser from zooming the page.
    const listen = (event: WheelEvent) => wheel(event);
    element.addEventListener("wheel", listen, { passive: false });
    return () => element.removeEventListener("wheel", listen);
  }, [body]);

  return {
    hover: dragging ? undefined : hover,
    dragging,
    /** Says whether the click that comes now ends a drag. */
    dragged: () => drag.current?.moved ?? false,
    handlers: {
      onPointerDown: (event: React.PointerEvent<HTMLElement>) => {
        if (event.button !== 0) return;
        drag.current = { x: event.clientX, span, moved: false };
      },
      onPointerMove: (event: React.PointerEvent<HTMLElement>) => {
        const d = drag.current;
        if (d && event.buttons === 1) {
          if (!d.moved && Math.abs(event.clientX - d.x) < 4) return;
          if (!d.moved) {
            d.moved = true;
            setDragging(true);
            event.currentTarget.setPointerCapture(event.pointerId);
          }
          setSpan(pan(d.span, (d.x - event.clientX) * msPerPx(), bounds));
          return;
        }
        const rect = event.currentTarget.getBoundingClientRect();
        const inPlot = plot.current?.getBoundingClientRect();
        if (inPlot && (event.clientX < inPlot.left || event.clientX > inPlot.right)) setHover(undefined);
        else setHover({ x: event.clientX - rect.left, y: event.clientY - rect.top, at: timeAt(event.clientX) });
      },
      onPointerUp: () => setDragging(false),
      onPointerCancel: () => setDragging(false),
      onPointerLeave: () => setHover(undefined),
    },
  };
}
