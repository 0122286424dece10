import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Schemas } from "../api/client";
import { flowUsualQuery } from "../api/queries";
import { DataTable } from "../ui/DataTable";
import { runColumns } from "./columns";
import css from "./RunsTable.module.css";
import type { Runs } from "./useRuns";

type Run = Schemas["Run"];

/**
 * Runs as rows. j and k move as the arrow keys do, x selects, `.` opens the row's menu. `flow` is for lists of one flow: its column is left out.
 */
export function RunsTable({
  runs,
  flow = false,
  selected,
  onSelect,
  empty,
  fill = false,
}: {
  runs: Runs;
  flow?: boolean;
  selected?: ReadonlySet<string>;
  onSelect?: (keys: ReadonlySet<string>) => void;
  empty: React.ReactNode;
  fill?: boolean;
}) {
  const go = useNavigate();
  const usual = useQuery(flowUsualQuery).data;
  const columns = useMemo(() => runColumns(new Map(usual?.items.map((u) => [u.flow, { p50: u.p50_s, p95: u.p95_s }])), !flow), [usual, flow]);
  return (
    <div className={css["list"]} data-fill={fill || undefined} onKeyDownCapture={shortcuts}>
      <DataTable
        label="Runs"
        rows={runs.rows}
        columns={columns}
        rowKey={rowKey}
        onOpen={(run) => void go({ to: "/runs/$run", params: { run: run.id } })}
        {...(selected && onSelect ? { selected, onSelect } : {})}
        more={runs.more}
        loading={runs.loading || runs.reading}
        empty={empty}
        fill={fill}
      />
    </div>
  );
}

const rowKey = (run: Run): string => run.id;

const sames: Readonly<Record<string, string>> = { j: "ArrowDown", k: "ArrowUp", x: " " };

/** The keys that people know from lists elsewhere, as those that the table takes. */
function shortcuts(event: React.KeyboardEvent): void {
  const row = event.target;
  if (!(row instanceof HTMLElement) || row.getAttribute("role") !== "row" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === ".") {
    row.querySelector<HTMLElement>("[data-row-menu]")?.click();
  } else {
    const same = sames[event.key];
    if (same === undefined) return;
    row.dispatchEvent(new KeyboardEvent("keydown", { key: same, bubbles: true, cancelable: true }));
  }
  event.preventDefault();
  event.stopPropagation();
}
