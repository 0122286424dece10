import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { DataTable, type Column } from "../../ui/DataTable";
import css from "./FlowScreen.module.css";
import { retryText, timeoutText, traits } from "./stageFacts";

/** A flow's stages with what they declare. */
export function StageRows({ stages, selected, onSelect }: { stages: readonly Schemas["GraphStage"][]; selected: string | undefined; onSelect: (stage: string | undefined) => void }) {
  return <DataTable label="Stages" rows={stages} columns={stageColumns} rowKey={rowKey} current={selected} maxRows={14} onOpen={(s) => onSelect(s.name === selected ? undefined : s.name)} />;
}

const rowKey = (s: Schemas["GraphStage"]): string => s.name;

const stageColumns: Column<Schemas["GraphStage"]>[] = [
  { id: "name", head: "Stage", width: "2fr", min: 120, cell: (s) => <strong className={css["stage"]}>{s.name}</strong> },
  { id: "after", head: "After", width: "2fr", min: 90, cell: (s) => <span title={s.upstreams.join(", ")}>{s.upstreams.join(", ") || <span className={css["muted"]}>the beginning</span>}</span> },
  { id: "rule", head: "Trigger rule", width: "1fr", min: 110, cell: (s) => <code>{s.rule}</code> },
  { id: "queue", head: "Queue", width: "1fr", min: 80, cell: (s) => s.queue ?? <span className={css["muted"]}>the run’s</span> },
  { id: "level", head: "Level", width: 64, cell: (s) => s.level ?? <span className={css["muted"]}>–</span> },
  { id: "retry", head: "Retry", width: "3fr", min: 150, cell: (s) => <span title={retryText(s.retry)}>{retryText(s.retry)}</span> },
  { id: "timeout", head: "Time-outs", width: "2fr", min: 150, cell: (s) => <span title={timeoutText(s.timeout)}>{timeoutText(s.timeout)}</span> },
  {
    id: "traits",
    head: "Also",
    width: "2fr",
    min: 120,
    cell: (s) =>
      s.child ? (
        <Link to="/flows/$flow" params={{ flow: s.child }} tabIndex={-1}>
          {traits(s).join(" · ")}
        </Link>
      ) : (
        <span title={traits(s).join("\n")}>{traits(s).join(" · ")}</span>
      ),
  },
];
