import { Link } from "@tanstack/react-router";
import { StateMark } from "../../../ui/StateMark";
import css from "./GanttView.module.css";
import type { Row } from "./rows";
import { partSentences, shardWords, tookWords } from "./words";

/** What the selected stage did, in words; it is always there, so that selecting moves nothing. */
export function GanttFoot({ row, run, now }: { row: Row | undefined; run: string; now: number }) {
  if (!row) return <div className={css["foot"]}>Select a stage to see its times. Ctrl and the wheel zoom, dragging moves.</div>;
  return (
    <div className={css["foot"]} aria-live="polite">
      <strong>{row.name}</strong>
      <StateMark state={row.status.state} />
      <span className={css["words"]}>{[tookWords(row, now), shardWords(row), ...partSentences(row)].filter(Boolean).join(" · ")}</span>
      <Link to="/runs/$run/stages/$stage" params={{ run, stage: row.name }}>
        Open stage
      </Link>
      <Link from="/runs/$run" to="." search={(s) => ({ ...s, why: `${run}/${row.name}` })}>
        Why
      </Link>
    </div>
  );
}
