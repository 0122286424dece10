import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useStageActs } from "../../acts/useStageActs";
import { Refusal, type Schemas } from "../../api/client";
import { useLiveRun, usePoll } from "../../api/live/useLive";
import { runQuery } from "../../api/queries";
import { sentence, shortId } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { Empty, Failure, Loading } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { StateMark } from "../../ui/StateMark";
import { explainQuery } from "../../why/query";
import { whyOf } from "../../why/target";
import { Attempts } from "./Attempts";
import { Progress } from "./Progress";
import { runningQuery, shardQuery } from "./reads";
import { TaskTabs } from "./TaskTabs";
import css from "./TaskScreen.module.css";

const route = getRouteApi("/runs/$run/stages/$stage/shards/$shard");

/** One task: its attempts, what it logged, what it got and what it returned. */
export default function TaskScreen(): React.ReactNode {
  const { run, stage, shard } = route.useParams();
  const detail = useQuery(runQuery(run));
  useLiveRun(run);
  const index = /^(-1|\d{1,7})$/.test(shard) ? Number(shard) : undefined;
  const status = detail.data?.stages.find((s) => s.name === stage);
  if (detail.data && status && index !== undefined) return <Shown key={`${run}/${stage}/${index}`} detail={detail.data} status={status} index={index} />;
  const name = `${stage}[${shard}]`;
  return (
    <Page title={name} name={name}>
      {detail.isError ? (
        <Failure what="the run" error={detail.error} retry={() => void detail.refetch()} />
      ) : detail.data ? (
        <Empty
          title={index === undefined ? `“${shard}” is no shard: it is a number from 0, or -1 for the plan` : `This run has no stage ${stage}`}
          action={
            <Link to="/runs/$run" params={{ run }}>
              To the run
            </Link>
          }
        />
      ) : (
        <Loading what="the task" lines={6} />
      )}
    </Page>
  );
}

function Shown({ detail, status, index }: { detail: Schemas["RunDetail"]; status: Schemas["StageStatus"]; index: number }) {
  const run = detail.run.id;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const over = status.finished_at !== undefined;
  const poll = usePoll(2_000, 2_000);
  const slow = usePoll(5_000, 5_000);
  // The stream tells the stage's counts, not this shard: it is asked again while the stage goes on.
  const shard = useQuery({ ...shardQuery(run, status.name, index), refetchInterval: over ? false : poll });
  const flying = shard.data?.state === "in_flight";
  const running = useQuery({ ...runningQuery(run, status.name, index), enabled: flying, refetchInterval: flying ? poll : false });
  const why = useQuery({ ...explainQuery({ run, stage: status.name, shard: index }), refetchInterval: over ? false : slow });
  const acts = useStageActs(detail.run, status, String(index));
  const attempt = search.attempt !== undefined && /^\d+$/.test(search.attempt) ? Number(search.attempt) : undefined;
  const name = index === -1 ? `${status.name}: plan` : status.kind === "single" ? status.name : `${status.name}[${index}]`;

  return (
    <Page
      name={`${name} ${shortId(run)}`}
      title={
        <span className={css["title"]}>
          {shard.data && <StateMark state={shard.data.state} bare size={18} />}
          {name}
        </span>
      }
      aside={
        <>
          {shard.data && <StateMark state={shard.data.state} />}
          {shard.data?.key !== undefined && (
            <span>
              key <code>{shard.data.key}</code>
            </span>
          )}
          <span className={css["path"]}>
            of{" "}
            <Link to="/runs/$run/stages/$stage" params={{ run, stage: status.name }}>
              {status.name}
            </Link>{" "}
            in{" "}
            <Link to="/runs/$run" params={{ run }}>
              {detail.run.flow} {shortId(run)}
            </Link>
          </span>
        </>
      }
      actions={
        <>
          {index > 0 && <Neighbour run={run} stage={status.name} index={index - 1} text="← Previous" />}
          {index >= 0 && index + 1 < status.total && <Neighbour run={run} stage={status.name} index={index + 1} text="Next →" />}
          {index >= 0 && <Menu label="What can be done with this shard" trigger="Act" items={acts} />}
        </>
      }
    >
      <div className={css["why"]}>
        {why.data ? (
          <>
            <span>{sentence(why.data.diagnosis)}</span>
            <Link from="/runs/$run/stages/$stage/shards/$shard" to="." search={(s) => ({ ...s, why: whyOf({ run, stage: status.name, shard: index }) })}>
              Why
            </Link>
          </>
        ) : (
          <span>{why.isError ? "" : "…"}</span>
        )}
      </div>
      {running.data && <Progress running={running.data} />}
      {shard.isError ? (
        <ShardFailure error={shard.error} status={status} index={index} retry={() => void shard.refetch()} />
      ) : (
        <Panel title="Attempts" flush>
          {!shard.data ? (
            <Loading what="the attempts" lines={5} />
          ) : shard.data.attempts.length === 0 && !running.data ? (
            <Empty title="It has not run yet">{why.data && sentence(why.data.diagnosis)}</Empty>
          ) : (
            <Attempts attempts={shard.data.attempts} running={running.data ?? undefined} selected={attempt} onSelect={(next) => void navigate({ search: (s) => ({ ...s, attempt: next === undefined ? undefined : String(next), line: undefined }), replace: true })} />
          )}
        </Panel>
      )}
      <TaskTabs detail={detail} status={status} index={index} attempt={attempt} attempts={shard.data?.attempts.length ?? 0} />
    </Page>
  );
}

const Neighbour = ({ run, stage, index, text }: { run: string; stage: string; index: number; text: string }) => (
  <Link to="/runs/$run/stages/$stage/shards/$shard" params={{ run, stage, shard: String(index) }} search={(s) => ({ ...s, attempt: undefined, line: undefined })}>
    {text}
  </Link>
);

function ShardFailure({ error, status, index, retry }: { error: Error; status: Schemas["StageStatus"]; index: number; retry: () => void }) {
  if (!(error instanceof Refusal && error.problem.code === "not_found")) return <Failure what="the task" error={error} retry={retry} />;
  return (
    <Empty title={`There is no shard ${index} of ${status.name}`}>
      {status.total < 0 ? "The stage’s shards are not known yet: its plan has to end first." : `It has ${status.total} shards: 0 to ${status.total - 1}.`}
    </Empty>
  );
}
