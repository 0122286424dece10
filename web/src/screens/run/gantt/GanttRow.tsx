import { memo } from "react";
import { StateMark } from "../../../ui/StateMark";
import { GanttBars } from "./GanttBars";
import css from "./GanttView.module.css";
import type { Row } from "./rows";
import { partWords, rowWords } from "./words";
import type { Span } from "./zoom";

interface Props {
  row: Row;
  index: number;
  top: number;
  span: Span;
  now: number;
  selected: boolean;
}

/** A stage's row. It is drawn again when its stage or what is in sight changes, not for the pointer that moves over it; the list hears its clicks. */
export const GanttRow = memo(function GanttRow({ row, index, top, span, now, selected }: Props) {
  return (
    <div id={`gantt-${index}`} role="option" tabIndex={-1} aria-selected={selected} data-index={index} className={css["row"]} data-critical={row.part?.critical || undefined} style={{ transform: `translateY(${top}px)` }}>
      <span className={css["name"]} title={row.name}>
        <StateMark state={row.status.state} bare /> <span>{row.name}</span>
      </span>
      <span className={css["bars"]}>
        <GanttBars row={row} span={span} />
      </span>
      <span className={css["part"]}>{partWords(row)}</span>
      <span className={css["keys"]}>{rowWords(row, now)}</span>
    </div>
  );
});
