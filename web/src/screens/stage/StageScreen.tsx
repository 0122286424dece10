import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useStageActs } from "../../acts/useStageActs";
import type { Schemas } from "../../api/client";
import { useLiveRun } from "../../api/live/useLive";
import { flowQuery, runQuery } from "../../api/queries";
import { shortId } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { Empty, Failure, Loading } from "../../ui/Notice";
import { Page } from "../../ui/Page";
import { StateMark } from "../../ui/StateMark";
import { Diagnosis } from "./Diagnosis";
import { Facts } from "./Facts";
import { NoShards } from "./NoShards";
import { route } from "./route";
import { ShardsView } from "./ShardsView";
import { SingleTask } from "./SingleTask";
import { StageTabs } from "./StageTabs";
import { useStageReads } from "./useStageReads";

/** A stage and its shards, thousands of them at a glance. */
export default function StageScreen() {
  const { run, stage } = route.useParams();
  const detail = useQuery(runQuery(run));
  useLiveRun(run);
  const status = detail.data?.stages.find((s) => s.name === stage);
  if (detail.data && status) return <Shown key={`${run}/${stage}`} detail={detail.data} status={status} />;
  return (
    <Page title={stage} name={stage}>
      {detail.isError ? (
        <Failure what="the stage" error={detail.error} retry={() => void detail.refetch()} />
      ) : detail.data ? (
        <Empty
          title={`This run has no stage ${stage}`}
          action={
            <Link to="/runs/$run" params={{ run }}>
              See the stages that it has
            </Link>
          }
        />
      ) : (
        <Loading what="the stage" lines={8} />
      )}
    </Page>
  );
}

function Shown({ detail, status }: { detail: Schemas["RunDetail"]; status: Schemas["StageStatus"] }) {
  const { run } = detail;
  const flow = useQuery(flowQuery(run.flow, run.version));
  const declared = useMemo(() => flow.data?.graph.stages.find((s) => s.name === status.name), [flow.data, status.name]);
  const acts = useStageActs(run, status);
  const reads = useStageReads(run.id, status);
  const navigate = route.useNavigate();
  const hasShards = status.kind === "sharded" && status.total > 0;
  return (
    <Page
      name={`${status.name} · ${run.flow}`}
      title={status.name}
      aside={
        <>
          <StateMark state={run.paused && status.state === "running" ? "paused" : status.state} />
          <span>
            {status.kind === "sharded" ? "sharded" : "unsharded"} stage of{" "}
            <Link to="/runs/$run" params={{ run: run.id }} title={run.id}>
              {run.flow} {shortId(run.id)}
            </Link>
          </span>
          {status.generation > 1 && <span title="The stage was rerun: results of earlier generations are kept">generation {status.generation}</span>}
        </>
      }
      actions={<Menu label={`Act on stage ${status.name}`} trigger="Act on stage" items={acts} />}
    >
      <Diagnosis run={run.id} status={status} />
      <Facts status={status} detail={reads.detail.data} failures={reads.failures.data} onFailures={() => void navigate({ search: (s) => ({ ...s, tab: "failures" }), replace: true, resetScroll: false })} />
      {status.kind !== "sharded" ? (
        <SingleTask run={run.id} status={status} />
      ) : hasShards ? (
        <ShardsView detail={detail} status={status} declared={declared} reads={reads} />
      ) : (
        <NoShards run={run.id} status={status} upstreams={declared?.upstreams ?? []} />
      )}
      {!hasShards && <StageTabs detail={detail} status={status} declared={declared} failures={reads.failures} />}
    </Page>
  );
}
