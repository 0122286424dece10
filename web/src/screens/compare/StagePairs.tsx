import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { DataTable, type Column } from "../../ui/DataTable";
import { count, duration } from "../../ui/format";
import { StateMark } from "../../ui/StateMark";
import type { StagePair, StageSide } from "./compare";
import css from "./Comparison.module.css";
import { longer, reasons, type Pace } from "./words";

/** The stages of two runs with bars of how much longer or shorter each took. */
export function StagePairs({ runs, list, pace }: { runs: readonly [string, string]; list: readonly StagePair[]; pace: ReadonlyMap<string, Pace> }) {
  const [before, after] = runs;
  const widest = Math.max(1, ...list.map((p) => Math.abs(p.difference ?? 0)));
  const columns = useMemo(() => columnsOf(before, after, widest, pace), [before, after, widest, pace]);
  return <DataTable label="Stages of both runs" rows={list} columns={columns} rowKey={(p) => p.name} maxRows={24} />;
}

const both = (p: StagePair, of: (s: StageSide) => React.ReactNode): React.ReactNode => (
  <span className={css["both"]}>
    <span className={css["soft"]}>{p.before ? of(p.before) : "–"}</span>
    <span>{p.after ? of(p.after) : "–"}</span>
  </span>
);
const time = (ms: number | undefined): string => (ms === undefined ? "–" : duration(ms / 1000));

const columnsOf = (before: string, after: string, widest: number, pace: ReadonlyMap<string, Pace>): Column<StagePair>[] => [
  {
    id: "stage",
    head: "Stage",
    width: "1fr",
    min: 140,
    cell: (p) => (
      <Link to="/runs/$run/stages/$stage" params={{ run: p.after ? after : before, stage: p.name }} title={p.name}>
        {p.name}
      </Link>
    ),
  },
  { id: "state", head: "State", width: 64, title: "The other run’s, this run’s", cell: (p) => both(p, (s) => <StateMark state={s.status.state} bare />) },
  { id: "took", head: "Took", width: 132, align: "right", title: "The other run’s, this run’s", cell: (p) => both(p, (s) => time(s.took)) },
  {
    id: "difference",
    head: "Difference",
    width: 236,
    cell: (p) => {
      if (p.difference === undefined || p.before?.took === undefined || p.after?.took === undefined) return <span className={css["soft"]}>–</span>;
      const share = (Math.abs(p.difference) / widest) * 50;
      return (
        <span className={css["difference"]}>
          <span className={css["bar"]} aria-hidden>
            <i data-longer={p.difference > 0 || undefined} style={p.difference > 0 ? { left: "50%", width: `${share}%` } : { right: "50%", width: `${share}%` }} />
          </span>
          <span>{longer(p.before.took, p.after.took)}</span>
        </span>
      );
    },
  },
  { id: "queued", head: "Queued", width: 120, align: "right", title: "From when it was ready to when the first of it began: the other run’s, this run’s", cell: (p) => both(p, (s) => time(s.queued)) },
  { id: "shards", head: "Shards", width: 120, align: "right", title: "The other run’s, this run’s", cell: (p) => both(p, (s) => (s.status.total < 0 ? "–" : count(s.status.total))) },
  { id: "failed", head: "Failed", width: 96, align: "right", title: "Attempts that failed: the other run’s, this run’s", cell: (p) => both(p, (s) => (s.failed === undefined ? "–" : count(s.failed))) },
  {
    id: "why",
    head: "What stands out",
    width: "2fr",
    min: 160,
    cell: (p) => {
      const text = !p.before ? "only this run has it" : !p.after ? "only the other run has it" : [...reasons(p, pace.get(p.name)), ...p.changed].join(", ");
      return <span title={text}>{text || <span className={css["soft"]}>–</span>}</span>;
    },
  },
];
