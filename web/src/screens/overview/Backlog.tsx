import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { queuesQuery } from "../../api/queries";
import { count, duration, plural, rate, short } from "../../ui/format";
import { Empty } from "../../ui/Notice";
import { ToneMark } from "../../ui/StateMark";
import css from "./Backlog.module.css";
import { drainByLevel, drainWords, weightsOf } from "./drain";
import { heat, lateAfter, levels } from "./lateness";
import { backlogSearch } from "./links";

type Queue = Schemas["QueueBacklog"];
type Level = Schemas["Level"];

/** What waits, by queue and level: how much, how old the oldest is, and how long it takes to be done. */
export function Backlog({ queues }: { queues: readonly Queue[] | undefined }) {
  // Settings change rarely; the figures come with the overview.
  const settings = useQuery({ ...queuesQuery, enabled: queues !== undefined && queues.length > 0, staleTime: 60_000 });
  if (!queues) return <Empty title="The backlog is shown to those who have the permission fleet:read" />;
  if (queues.length === 0) return <Empty title="Nothing waits">No queue holds work, and none is paused.</Empty>;
  return (
    <div className={css["scroll"]}>
      <table className={css["matrix"]}>
        <thead>
          <tr>
            <th scope="col">Queue</th>
            {levels.map((level) => (
              <th key={level} scope="col" title={`Late when the oldest has waited for ${duration(lateAfter[level])}`}>
                {level}
              </th>
            ))}
            <th scope="col">All levels</th>
          </tr>
        </thead>
        <tbody>
          {queues.map((q) => (
            <Row key={q.queue} queue={q} shares={weightsOf(settings.data?.items.find((s) => s.name === q.queue)?.weights)} />
          ))}
        </tbody>
      </table>
      <p className={css["legend"]}>
        Each cell: tasks that wait, the age of the oldest, and the time until the cell is empty at the rate of the last 5 minutes.
        {[1, 2, 3, 4].map((h) => (
          <span key={h} className={css["key"]}>
            <span className={css["swatch"]} data-heat={h} /> {["fresh", "ageing", "late", "far too late"][h - 1]}
          </span>
        ))}
      </p>
    </div>
  );
}

function Row({ queue, shares }: { queue: Queue; shares: Readonly<Record<Level, number>> }) {
  const drains = drainByLevel(queue.levels, queue.rate_per_s, shares);
  return (
    <tr>
      <th scope="row">
        <Link to="/queues" search={{ queue: queue.queue }} className={css["queue"]}>
          {queue.queue}
        </Link>
        <span className={css["sub"]}>
          {queue.paused ? (
            <>
              <ToneMark tone="paused" /> paused
            </>
          ) : queue.pressure && queue.pressure !== "normal" ? (
            <>
              <ToneMark tone="retrying" /> pressure: {queue.pressure}
            </>
          ) : (
            `${short(queue.in_flight)} in flight · ${rate(queue.rate_per_s)}`
          )}
        </span>
      </th>
      {levels.map((level) => (
        <Cell key={level} queue={queue} cell={queue.levels.find((l) => l.level === level)} level={level} drain={drains.get(level)} />
      ))}
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- a cell is no control, and its link has text */}
      <td>
        <Link to="/runs" search={{ q: backlogSearch(queue.queue) }} className={css["cell"]} title={`The open runs of ${queue.queue}`}>
          <b>{amount(queue)}</b>
          <span className={css["said"]}>waiting, the oldest for</span>
          <span className={css["sub"]}>{queue.depth > 0 ? duration(queue.oldest_s) : `${short(queue.in_flight)} in flight`}</span>
          <span className={css["sub"]}>{drainWords(queue)}</span>
        </Link>
      </td>
    </tr>
  );
}

function Cell({ queue, cell, level, drain }: { queue: Queue; cell: Schemas["LevelBacklog"] | undefined; level: Level; drain: number | undefined }) {
  if (!cell || (cell.depth === 0 && cell.in_flight === 0)) return <td className={css["none"]}>–</td>;
  const hot = heat(level, cell.depth, cell.oldest_s);
  const words = drainWords(queue, drain);
  const says =
    cell.depth === 0
      ? `${plural(cell.in_flight, "task")} of ${level} with workers, none waits`
      : `${amount(cell)} ${cell.depth === 1 ? "task" : "tasks"} of ${level} in ${queue.queue}: the oldest has waited ${duration(cell.oldest_s)}${hot >= 3 ? `, late since ${duration(lateAfter[level])}` : ""}; ${words}; ${count(cell.in_flight)} with workers`;
  return (
    // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- as above
    <td data-heat={hot}>
      <Link to="/runs" search={{ q: backlogSearch(queue.queue, level) }} className={css["cell"]} title={says}>
        <b>
          {hot >= 3 && (
            <svg viewBox="0 0 10 10" width="9" height="9" aria-hidden className={css["alarm"]}>
              <path d="M5 0.500 9.800 9.500H0.200z" fill="currentColor" />
            </svg>
          )}
          {amount(cell)}
        </b>
        <span className={css["said"]}>waiting, the oldest for</span>
        <span className={css["sub"]}>{cell.depth > 0 ? duration(cell.oldest_s) : `${short(cell.in_flight)} in flight`}</span>
        <span className={css["sub"]}>{cell.depth > 0 ? words : "\u00a0"}</span>
      </Link>
    </td>
  );
}

/** A depth in few characters; "+" where counting has ended. */
const amount = (x: { depth: number; at_least?: boolean }): string => (x.depth < 100_000 ? count(x.depth) : short(x.depth)) + (x.at_least ? "+" : "");
