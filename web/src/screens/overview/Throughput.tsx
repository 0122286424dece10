import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { Chart, type Series } from "../../ui/Chart";
import { count, rate } from "../../ui/format";
import css from "./Throughput.module.css";
import { rates, total, type RateLines } from "./rates";

const none: RateLines = { times: [], started: [], succeeded: [], failed: [] };

const lines = (r: RateLines): Series[] => [
  { name: "started", paint: "s-running", stroke: "dashed", values: r.started },
  { name: "succeeded", paint: "s-succeeded", values: r.succeeded },
  { name: "failed", paint: "s-failed", stroke: "dotted", values: r.failed },
];

/** Runs and tasks that started, succeeded and failed, a second; before they are known as high as after. */
export function Throughput({ overview }: { overview: Schemas["Overview"] | undefined }) {
  const runs = useMemo(() => (overview ? rates(overview.runs, overview.from, overview.step_s) : none), [overview]);
  const tasks = useMemo(() => (overview ? rates(overview.tasks, overview.from, overview.step_s) : none), [overview]);
  const runLines = useMemo(() => lines(runs), [runs]);
  const taskLines = useMemo(() => lines(tasks), [tasks]);
  const since = overview?.window ?? "1h";
  const sum = (kind: "runs" | "tasks", what: keyof Schemas["Rates"]) => (overview ? count(total(overview[kind][what])) : "–");
  return (
    <div className={css["pair"]}>
      <div className={css["one"]}>
        <Chart label="Runs a second" times={runs.times} series={runLines} format={rate} together="overview" />
        <p className={css["sums"]}>
          In {since}: <Link to="/runs" search={{ q: `since:${since}` }}>{sum("runs", "started")} started</Link>,{" "}
          <Link to="/runs" search={{ q: `state:succeeded since:${since}` }}>{sum("runs", "succeeded")} succeeded</Link>,{" "}
          <Link to="/runs" search={{ q: `state:failed since:${since}` }}>{sum("runs", "failed")} failed</Link>
        </p>
      </div>
      <div className={css["one"]}>
        <Chart label="Tasks a second" times={tasks.times} series={taskLines} format={rate} together="overview" />
        <p className={css["sums"]}>
          In {since}: <Link to="/runs" search={{ q: `state:open` }}>{sum("tasks", "started")} started</Link>,{" "}
          <Link to="/runs" search={{ q: `since:${since}` }}>{sum("tasks", "succeeded")} succeeded</Link>,{" "}
          <Link to="/dead-letters">{sum("tasks", "failed")} failed</Link>; each attempt counts
        </p>
      </div>
    </div>
  );
}
