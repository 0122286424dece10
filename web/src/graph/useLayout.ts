import { useEffect, useMemo, useState } from "react";
import { grid } from "./grid";
import { layoutNow, layoutOf } from "./layouts";
import type { Layout, Shape } from "./shape";

/** After so many ms without a layout the grid is shown. */
const patience = 300;

/** The layout of a shape: undefined for a moment, then, if it takes long, a grid, then the layout for good. */
export function useLayout(key: string, shape: Shape): Layout | undefined {
  const ready = useMemo(() => layoutNow(key, shape), [key, shape]);
  const [late, setLate] = useState<{ key: string; layout: Layout }>();
  useEffect(() => {
    if (ready) return;
    let over = false;
    const show = (layout: Layout) => !over && setLate({ key, layout });
    const timer = setTimeout(() => show(grid(shape)), patience);
    layoutOf(key, shape).then(
      (layout) => {
        clearTimeout(timer);
        show(layout);
      },
      // The grid stays: it shows everything, less well.
      () => show(grid(shape)),
    );
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [key, ready, shape]);
  return ready ?? (late?.key === key ? late.layout : undefined);
}
