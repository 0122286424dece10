import { Link } from "@tanstack/react-router";
import type { Column } from "../../../ui/DataTable";
import { count, duration, rate } from "../../../ui/format";
import { StateBar } from "../../../ui/StateBar";
import { StateMark } from "../../../ui/StateMark";
import { lettersOf, stageParts } from "../../../ui/states";
import { Time } from "../../../ui/Time";
import { DurationCell } from "./DurationCell";
import css from "./StageTable.module.css";
import type { Sort, SortBy, StageRow } from "./stagerows";

/** A number that says nothing when it is 0. */
const quiet = (n: number): React.ReactNode => (n === 0 ? <span className={css["none"]}>0</span> : count(n));

/** The table's columns; `onSort` is called with what a head was clicked for. */
export function stageColumns(run: string, sort: Sort | undefined, onSort: (by: SortBy) => void): Column<StageRow>[] {
  const sorted = (by: SortBy): Pick<Column<StageRow>, "sort" | "onSort"> => ({ sort: sort?.by === by ? (sort.desc ? "desc" : "asc") : undefined, onSort: () => onSort(by) });
  const shards = (state: string, row: StageRow, n: number) =>
    n === 0 || row.status.kind !== "sharded" ? (
      quiet(n)
    ) : (
      <Link to="/runs/$run/stages/$stage" params={{ run, stage: row.name }} search={{ tab: "shards", state }}>
        {count(n)}
      </Link>
    );
  return [
    {
      id: "stage",
      head: "Stage",
      width: "2fr",
      min: 150,
      ...sorted("stage"),
      cell: (r) => (
        <Link className={css["stage"]} to="/runs/$run/stages/$stage" params={{ run, stage: r.name }} title={r.name}>
          {r.name}
        </Link>
      ),
    },
    { id: "state", head: "State", width: 146, ...sorted("state"), cell: (r) => <StateMark state={r.status.state} /> },
    {
      id: "done",
      head: "Done",
      width: 160,
      title: "Shards that have succeeded, of all",
      ...sorted("done"),
      cell: (r) => (
        <span className={css["done"]}>
          <span>{r.status.total < 0 ? "not known" : `${count(r.status.succeeded)} / ${count(r.status.total)}`}</span>
          <StateBar parts={stageParts(r.status)} label={r.name} />
        </span>
      ),
    },
    { id: "took", head: "Took", width: 76, align: "right", title: "From when it was ready to its end, or to now", ...sorted("took"), cell: (r) => (r.took === undefined ? <span className={css["none"]}>–</span> : duration(r.took / 1000)) },
    {
      id: "part",
      head: "Critical path",
      width: 114,
      align: "right",
      title: "What it added to the run’s time, or how much later it could have ended without delaying the run",
      ...sorted("part"),
      cell: (r) => <PartCell row={r} />,
    },
    { id: "dead", head: "Dead", width: 62, align: "right", title: "Failed for good", ...sorted("dead"), cell: (r) => shards("dead,expired", r, lettersOf(r.status)) },
    { id: "retries", head: "Retries", width: 72, align: "right", title: "Attempts beyond the first of each shard", ...sorted("retries"), cell: (r) => (r.retries === undefined ? <span className={css["none"]}>–</span> : quiet(r.retries)) },
    { id: "flight", head: "In flight", width: 76, align: "right", title: "With a worker", ...sorted("flight"), cell: (r) => shards("in_flight", r, r.status.in_flight) },
    { id: "ready", head: "Ready", width: 66, align: "right", title: "Wait for a worker", ...sorted("ready"), cell: (r) => shards("ready", r, r.status.ready) },
    { id: "parked", head: "Parked", width: 70, align: "right", title: "Wait, or were skipped or cancelled", ...sorted("parked"), cell: (r) => quiet(r.status.parked) },
    { id: "rate", head: "Rate", width: 72, align: "right", title: "Shards that end a second: now, or on average if the stage has ended", ...sorted("rate"), cell: (r) => (r.rate === undefined ? <span className={css["none"]}>–</span> : <span className={r.end === undefined ? undefined : css["soft"]}>{rate(r.rate)}</span>) },
    { id: "p50", head: "p50", width: 64, align: "right", title: "Half of the attempts that succeeded took no longer", cell: (r) => <DurationCell run={run} status={r.status} of="p50_s" /> },
    { id: "p95", head: "p95", width: 64, align: "right", title: "95 of 100 of the attempts that succeeded took no longer", cell: (r) => <DurationCell run={run} status={r.status} of="p95_s" /> },
    { id: "since", head: "Ready at", width: 84, align: "right", title: "When its upstreams let it go", ...sorted("since"), cell: (r) => <Time at={r.status.ready_at} /> },
    { id: "kind", head: "Kind", width: 70, title: "unsharded, or sharded", cell: (r) => <span className={css["soft"]}>{r.status.kind === "sharded" ? "sharded" : "single"}</span> },
    { id: "rule", head: "Rule", width: "1fr", min: 90, title: "Trigger rule", cell: (r) => <span className={css["soft"]} title={r.rule}>{r.rule}</span> },
  ];
}

function PartCell({ row: { part, status } }: { row: StageRow }) {
  if (!part || status.state === "skipped" || status.state === "upstream_failed") return <span className={css["none"]}>–</span>;
  if (part.critical) return <strong>added {duration(part.added / 1000)}</strong>;
  return <span className={css["soft"]}>{part.slack >= 1 ? `slack ${duration(part.slack / 1000)}` : "no slack"}</span>;
}
