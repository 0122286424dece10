import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { usePoll } from "../../api/live/useLive";
import { useStageRates } from "../../api/live/useStageRates";
import { usualQuery } from "../../api/queries";
import { Copy } from "../../ui/Copy";
import { count, duration, percent, plural, rate, sentence, shortId } from "../../ui/format";
import { useNow } from "../../ui/now";
import { StateBar } from "../../ui/StateBar";
import { Elapsed, Time } from "../../ui/Time";
import { WhyLink } from "../../why/WhyLink";
import css from "./RunHead.module.css";
import { totalsOf } from "./totals";

/** How a run is, in a few lines: why it stands where it stands, how long it takes, how much is done, and where it comes from. */
export function RunHead({ detail, explained, failed }: { detail: Schemas["RunDetail"]; explained: Schemas["Explanation"] | undefined; failed: boolean }) {
  const { run } = detail;
  const tags = Object.entries(run.tags ?? {});
  return (
    <div className={css["head"]}>
      <p className={css["diagnosis"]}>
        <span className={css["sentence"]} title={explained?.diagnosis}>
          {explained ? sentence(explained.diagnosis) : (failed ? "It could not be asked why." : " ")}
        </span>
        <WhyLink run={run.id}>Why?</WhyLink>
      </p>
      <Progress detail={detail} />
      <dl className={css["facts"]}>
        <Fact name="Run">
          <code title={run.id}>{shortId(run.id)}</code>
          <Copy text={run.id} what="run id" />
        </Fact>
        <Fact name="Started">
          <Time at={run.created_at} />
        </Fact>
        <Took detail={detail} />
        <Fact name="Trigger">{run.trigger}</Fact>
        <Fact name="Level">{run.level}</Fact>
        <Fact name="Queue">
          <Link to="/queues" search={{ queue: run.queue }}>
            {run.queue}
          </Link>
        </Fact>
        <Fact name="Version">
          <Link to="/flows/$flow" params={{ flow: run.flow }} search={{ version: run.version }} title={run.version}>
            <code>{run.version.slice(0, 8)}</code>
          </Link>
        </Fact>
        {run.parent && (
          <Fact name="Parent">
            <Link to="/runs/$run" params={{ run: run.parent.run }} search={{ stage: run.parent.stage }}>
              {run.parent.stage} of {shortId(run.parent.run)}
            </Link>
          </Fact>
        )}
        {tags.length > 0 && (
          <Fact name="Tags">
            {tags.map(([key, value]) => (
              <Link key={key} to="/runs" search={{ q: `tag:${key}=${/\s/.test(value) ? `"${value}"` : value}` }} className={css["tag"]} title="Runs with this tag">
                {key}={value}
              </Link>
            ))}
          </Fact>
        )}
      </dl>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className={css["fact"]}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** All tasks of the run as a bar, with how many are done and how fast. */
function Progress({ detail }: { detail: Schemas["RunDetail"] }) {
  const totals = totalsOf(detail.stages);
  const rates = useStageRates(detail);
  const now = [...rates.values()].reduce((sum, r) => sum + r, 0);
  return (
    <div className={css["progress"]}>
      <StateBar parts={totals.parts} tall label="All tasks" />
      <span className={css["numbers"]}>
        <strong>{count(totals.done)}</strong> of {totals.unknown > 0 && "at least "}
        {plural(totals.total, "task")} ({percent(totals.done, totals.total)})
      </span>
      {totals.dead > 0 && (
        <Link className={css["dead"]} to="/dead-letters" search={{ run: detail.run.id }}>
          {count(totals.dead)} dead
        </Link>
      )}
      <span className={css["numbers"]}>
        {count(totals.decided)} of {plural(totals.stages, "stage")}
      </span>
      {detail.run.finished_at === undefined && <span className={css["rate"]}>{now > 0 && rate(now)}</span>}
    </div>
  );
}

/** How long it took or takes, against what is usual, and when it may end. */
function Took({ detail: { run } }: { detail: Schemas["RunDetail"] }) {
  const over = run.finished_at !== undefined;
  const poll = usePoll(5_000, 5_000);
  const usual = useQuery({ ...usualQuery(run.id), refetchInterval: over ? false : poll }).data;
  const now = useNow(!over);
  const elapsed = ((run.finished_at ? Date.parse(run.finished_at) : now) - Date.parse(run.created_at)) / 1000;
  const long = usual?.p95_s !== undefined && elapsed > usual.p95_s;
  return (
    <>
      <Fact name={over ? "Took" : "Elapsed"}>
        <span className={css["elapsed"]} data-long={long || undefined}>
          <Elapsed from={run.created_at} to={run.finished_at} />
        </span>
        {usual?.p50_s !== undefined && (
          <span className={css["usual"]} title={`Of ${plural(usual.samples, "run")} of ${usual.flow} that succeeded${usual.p95_s === undefined ? "" : `; 95 % of them within ${duration(usual.p95_s)}`}`}>
            usually {duration(usual.p50_s)}
            {long && usual.p95_s !== undefined && `, 95 % within ${duration(usual.p95_s)}`}
          </span>
        )}
      </Fact>
      {!over && usual?.eta && (
        <Fact name="Ends">
          <Time at={usual.eta.at} ago />
          <span className={css["usual"]} title={usual.eta.basis}>
            {usual.eta.basis}
          </span>
        </Fact>
      )}
    </>
  );
}
