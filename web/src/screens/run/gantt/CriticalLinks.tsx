import { memo, useMemo } from "react";
import css from "./GanttView.module.css";
import type { Row } from "./rows";
import type { Span } from "./zoom";

/** Lines from the end of each stage of the critical path to the one that waited for it. */
export const CriticalLinks = memo(function CriticalLinks({ rows, span, rowHeight }: { rows: readonly Row[]; span: Span; rowHeight: number }) {
  const links = useMemo(() => {
    const index = new Map(rows.map((r, i) => [r.name, i]));
    return rows.flatMap((r, i) => {
      const from = r.part?.critical && r.part.after !== undefined ? index.get(r.part.after) : undefined;
      const end = from === undefined ? undefined : rows[from]?.end;
      return from === undefined || end === undefined ? [] : [{ key: r.name, end, from, to: i }];
    });
  }, [rows]);
  return (
    <svg className={css["links"]} aria-hidden>
      {links.map((l) => {
        if (l.end < span.from || l.end > span.to) return null;
        const x = `${((l.end - span.from) / (span.to - span.from)) * 100}%`;
        const down = l.to > l.from;
        const y1 = l.from * rowHeight + (down ? rowHeight - 3 : 3);
        const y2 = l.to * rowHeight + (down ? 3 : rowHeight - 3);
        return <line key={l.key} x1={x} x2={x} y1={y1} y2={y2} />;
      })}
    </svg>
  );
});
