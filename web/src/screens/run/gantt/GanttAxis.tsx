import { memo, use, useMemo } from "react";
import { ZoneContext } from "../../../ui/zone";
import { ticks } from "./axis";
import css from "./GanttView.module.css";
import type { Span } from "./zoom";

/** How times stand at the axis: as the clock shows them, or since the run's start. */
export type Scale = "clock" | "start";

/** The axis' marks with lines through the rows; `start` is the run's creation. */
export const GanttAxis = memo(function GanttAxis({ span, width, scale, start }: { span: Span; width: number; scale: Scale; start: number }) {
  const { zone } = use(ZoneContext);
  const marks = useMemo(() => ticks(span.from, span.to, Math.floor(width / 110), scale === "start" ? { since: start } : { zone }), [span.from, span.to, width, scale, start, zone]);
  const left = (at: number) => `${((at - span.from) / (span.to - span.from)) * 100}%`;
  return (
    <>
      {marks.map((t) => (
        <span key={t.at} className={css["tick"]} style={{ left: left(t.at) }}>
          {(span.to - t.at) / (span.to - span.from) > 60 / width && <span>{t.label}</span>}
        </span>
      ))}
    </>
  );
});
