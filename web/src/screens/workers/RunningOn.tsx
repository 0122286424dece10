import { Link } from "@tanstack/react-router";
import { count, percent, shortId } from "../../ui/format";
import { Meter } from "../../ui/Meter";
import { Loading } from "../../ui/Notice";
import { Elapsed } from "../../ui/Time";
import css from "./RunningOn.module.css";
import { lookedAt, useRunningOn } from "./useRunningOn";

/** More are not drawn; a worker of thousands of slots would make the drawer slow. */
const most = 50;

/** The tasks that run on a worker, each with its progress and a way to it. */
export function RunningOn({ worker }: { worker: string }) {
  const { tasks, pending, error, all } = useRunningOn(worker);
  if (pending && tasks.length === 0) return <Loading what="what runs on it" lines={2} />;
  return (
    <>
      {error && <p className={css["bad"]}>{error.message}</p>}
      <ul className={css["list"]}>
        {tasks.slice(0, most).map((t) => (
          <li key={`${t.execution} ${t.shard}`} className={css["task"]}>
            <p className={css["row"]}>
              <Link to="/runs/$run/stages/$stage/shards/$shard" params={{ run: t.run, stage: t.stage, shard: String(t.shard) }}>
                {t.stage} {t.shard < 0 ? "plan" : `shard ${t.shard}`}
              </Link>
              <span className={css["dim"]}>
                {t.attempt > 1 && `attempt ${t.attempt} · `}
                <Elapsed from={t.started_at} />
              </span>
            </p>
            <p className={css["row"]}>
              <Link to="/runs/$run" params={{ run: t.run }} className={css["dim"]}>
                {t.flow} {shortId(t.run)}
              </Link>
              {t.done !== undefined && (
                <span className={css["dim"]}>
                  {count(t.done)}
                  {t.total !== undefined && ` of ${count(t.total)} (${percent(t.done, t.total)})`}
                </span>
              )}
            </p>
            {t.detail && <p className={css["detail"]}>{t.detail}</p>}
            {t.done !== undefined && t.total !== undefined && t.total > 0 && <Meter label={`Progress of ${t.stage} shard ${t.shard}`} share={t.done / t.total} />}
          </li>
        ))}
      </ul>
      <p className={css["note"]}>
        {tasks.length > most && `${count(tasks.length - most)} more. `}
        {tasks.length === 0 && !error && "No task has run on it for longer than a heartbeat (2 s). "}
        {!all && `Of the newest ${lookedAt} open runs.`}
      </p>
    </>
  );
}
