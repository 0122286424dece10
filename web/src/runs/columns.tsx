import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { Copy } from "../ui/Copy";
import type { Column } from "../ui/DataTable";
import { shortId } from "../ui/format";
import { StateBar } from "../ui/StateBar";
import { Time } from "../ui/Time";
import { RunState, Tags } from "./RunFlags";
import { RunMenu } from "./RunMenu";
import css from "./RunsTable.module.css";
import { decided, tallyParts } from "./tally";
import type { Usual } from "./usual";
import { UsualMeter } from "./UsualMeter";

type Run = Schemas["Run"];

/** The columns of a list of runs, with what is usual by flow; `flows` shows each run's flow. */
export function runColumns(usual: ReadonlyMap<string, Usual>, flows: boolean): Column<Run>[] {
  const all: (Column<Run> | false)[] = [
    { id: "state", head: "State", width: 116, cell: (run) => <RunState run={run} /> },
    flows && {
      id: "flow",
      head: "Flow",
      width: "2fr",
      min: 100,
      cell: (run) => (
        <Link to="/flows/$flow" params={{ flow: run.flow }} className={css["cut"]} tabIndex={-1}>
          {run.flow}
        </Link>
      ),
    },
    {
      id: "run",
      head: "Run",
      width: 130,
      cell: (run) => (
        <span className={css["run"]}>
          <Link to="/runs/$run" params={{ run: run.id }} className={css["id"]} title={run.id} tabIndex={-1}>
            {shortId(run.id)}
          </Link>
          <span className={css["copy"]}>
            <Copy text={run.id} what="the run’s id" />
          </span>
        </span>
      ),
    },
    {
      id: "stages",
      head: "Stages",
      width: 104,
      title: "Stages by state, and how many of them are decided",
      cell: (run) => {
        const { done, all: total } = decided(run.stages);
        return (
          <span className={css["stages"]}>
            <StateBar parts={tallyParts(run.stages)} label="Stages" />
            <span className={css["done"]}>
              {done}/{total}
            </span>
          </span>
        );
      },
    },
    { id: "elapsed", head: "Elapsed", width: 142, title: "Since it was created; the ticks are what half (p50) and nearly all (p95) of the flow’s runs take", cell: (run) => <UsualMeter from={run.created_at} to={run.finished_at} usual={usual.get(run.flow)} /> },
    { id: "trigger", head: "Trigger", width: 66, cell: (run) => run.trigger },
    { id: "level", head: "Level", width: 48, cell: (run) => run.level },
    { id: "queue", head: "Queue", width: "1fr", min: 70, cell: (run) => <span className={css["cut"]}>{run.queue}</span> },
    { id: "version", head: "Version", width: 68, cell: (run) => <code title={run.version}>{run.version.slice(0, 7)}</code> },
    { id: "tags", head: "Tags", width: "2fr", min: 60, cell: (run) => <Tags tags={run.tags} /> },
    { id: "created", head: "Created", width: 84, align: "right", cell: (run) => <Time at={run.created_at} /> },
    { id: "menu", head: "", width: 36, cell: (run) => <RunMenu run={run} /> },
  ];
  return all.filter((c) => c !== false);
}
