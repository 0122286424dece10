import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { flowQuery, runParamsQuery } from "../../api/queries";
import { LogView } from "../../logs/LogView";
import { JsonView } from "../../ui/JsonView";
import { Empty, Failure, Loading } from "../../ui/Notice";
import { Panel } from "../../ui/Page";
import { Tabs } from "../../ui/Tabs";
import { History } from "./History";
import { outputQuery } from "./reads";
import css from "./TaskScreen.module.css";

const route = getRouteApi("/runs/$run/stages/$stage/shards/$shard");
const tabs = [
  { value: "log", label: "Log" },
  { value: "input", label: "Input" },
  { value: "output", label: "Output" },
  { value: "history", label: "History" },
] as const;
type Tab = (typeof tabs)[number]["value"];

interface Props {
  detail: Schemas["RunDetail"];
  status: Schemas["StageStatus"];
  index: number;
  attempt: number | undefined;
  attempts: number;
}

/** What a task logged, got, returned, and what was done to it. */
export function TaskTabs({ detail, status, index, attempt, attempts }: Props) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tab: Tab = tabs.find((t) => t.value === search.tab)?.value ?? "log";
  const run = detail.run.id;
  return (
    <div>
      <Tabs label="About the task" value={tab} tabs={tabs} onChange={(next) => void navigate({ search: (s) => ({ ...s, tab: next === "log" ? undefined : next }) })} />
      {tab === "log" && (
        <div className={css["log"]}>
          <LogView
            key={attempt ?? 0}
            run={run}
            stage={status.name}
            shard={index}
            attempt={attempt}
            search={search}
            onSearch={({ q, level, line }) => void navigate({ search: (s) => ({ ...s, q, level, line }), replace: true })}
            filters={attempt !== undefined && <strong>Attempt {attempt} only</strong>}
            empty={attempts === 0 ? "It has not run yet." : "Handlers log with stage.Log(ctx); what they print goes elsewhere. Lines go with log retention."}
          />
        </div>
      )}
      {tab === "input" && <Input detail={detail} status={status} index={index} />}
      {tab === "output" && (
        <div className={css["tab"]}>
          {index < 0 ? <Empty title="A plan returns the stage’s shards">The stage’s page lists them.</Empty> : <Output run={run} stage={status.name} shard={index} title="What it returned" done={status.succeeded} />}
        </div>
      )}
      {tab === "history" && <History run={run} stage={status.name} index={index} />}
    </div>
  );
}

/** What a task can read: the run's params, and what stages before it have returned. Shards of a stage that it follows one by one give it their own. */
function Input({ detail, status, index }: Pick<Props, "detail" | "status" | "index">) {
  const params = useQuery(runParamsQuery(detail.run.id));
  const flow = useQuery(flowQuery(detail.run.flow, detail.run.version)).data;
  const graph = flow?.graph.stages.find((g) => g.name === status.name);
  const upstreams = (graph?.upstreams ?? []).flatMap((name) => detail.stages.find((s) => s.name === name) ?? []);
  return (
    <div className={css["tab"]}>
      <Panel title="Params of the run">{params.isSuccess ? <JsonView value={params.data} label="params" /> : params.isError ? <Failure what="the params" error={params.error} retry={() => void params.refetch()} /> : <Loading what="the params" />}</Panel>
      {upstreams.map((u) => {
        const shard = u.kind === "single" ? 0 : graph?.aligned_to === u.name && index >= 0 ? index : undefined;
        const title = `${u.name}${u.kind === "single" ? "" : shard === undefined ? "" : `[${shard}]`}`;
        if (shard === undefined)
          return (
            <Panel key={u.name} title={title}>
              <p className={css["soft"]}>It is sharded: what each shard returned is on the page of that shard.</p>
            </Panel>
          );
        return <Output key={u.name} run={detail.run.id} stage={u.name} shard={shard} title={`${title} returned`} done={u.succeeded} />;
      })}
    </div>
  );
}

function Output({ run, stage, shard, title, done }: { run: string; stage: string; shard: number; title: string; done: number }) {
  const read = useQuery({ ...outputQuery(run, stage, shard), enabled: done > 0 });
  return (
    <Panel title={title}>
      {done === 0 ? (
        <p className={css["soft"]}>It has not succeeded: there is no output.</p>
      ) : read.isError ? (
        <Failure what="the output" error={read.error} retry={() => void read.refetch()} />
      ) : !read.isSuccess ? (
        <Loading what="the output" />
      ) : read.data === null ? (
        <p className={css["soft"]}>There is no output: it has returned nothing, or has not succeeded.</p>
      ) : (
        <JsonView value={read.data} label="output" />
      )}
    </Panel>
  );
}
