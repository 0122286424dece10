import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { Schemas } from "../../api/client";
import { usePoll } from "../../api/live/useLive";
import { flowQuery, flowUsualQuery } from "../../api/queries";
import { act } from "../../acts/host";
import { holdFlow } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import { schemaQuery } from "../../params/query";
import { quote } from "../../runs/query";
import { RunsTable } from "../../runs/RunsTable";
import { useRuns } from "../../runs/useRuns";
import { Button, buttonClass } from "../../ui/Button";
import { count, duration, plural } from "../../ui/format";
import { KeyValues } from "../../ui/KeyValues";
import { Empty, Failure, Loading } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { StateMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import css from "./FlowScreen.module.css";
import { ParamsDoc } from "./ParamsDoc";
import { StageRows } from "./StageRows";
import { Versions } from "./Versions";

const StageGraph = lazy(() => import("../../graph/StageGraph"));
const route = getRouteApi("/flows/$flow");

/** A flow: its graph and stages, its params, its versions and its runs. */
export default function FlowScreen() {
  const { flow: name } = route.useParams();
  const { version, stage } = route.useSearch();
  const go = useNavigate({ from: "/flows/$flow" });
  const flow = useQuery({ ...flowQuery(name, version), refetchInterval: usePoll(15_000, 30_000) });
  const may = useMay();
  const select = (next: string | undefined) => void go({ search: (s) => ({ ...s, stage: next ?? "" }), replace: true });
  if (!flow.data) {
    return (
      <Page title={name} name={name}>
        <Panel>{flow.isError ? <Failure what={`flow ${name}${version ? ` in version ${version}` : ""}`} error={flow.error} retry={() => void flow.refetch()} /> : <Loading what={`flow ${name}`} lines={8} />}</Panel>
      </Page>
    );
  }
  const f = flow.data;
  const noHold = may("flows:operate");
  const noStart = may("runs:start");
  return (
    <Page
      title={f.name}
      name={f.name}
      aside={
        <>
          {f.paused && <StateMark state="paused" />}
          {!f.newest && (
            <Link to="." search={(s) => ({ ...s, version: "" })}>
              An older version. To the newest
            </Link>
          )}
        </>
      }
      actions={
        <>
          <Button disabled={noHold !== undefined} title={noHold} onClick={() => act(holdFlow(f.name, f.paused ? "resume" : "pause"))}>
            {f.paused ? "Resume" : "Pause"}
          </Button>
          <Link to="/flows/$flow/start" params={{ flow: f.name }} className={buttonClass} data-kind="primary" disabled={noStart !== undefined} title={noStart}>
            Start run
          </Link>
        </>
      }
    >
      <Panel>
        {f.description && <p className={css["about"]}>{f.description}</p>}
        <Facts flow={f} />
      </Panel>
      <Panel title="Stages" aside={plural(f.graph.stages.length, "stage")} flush>
        <div className={css["graph"]}>
          <Suspense fallback={<Loading what="the graph" lines={4} />}>
            <StageGraph label={`Graph of ${f.name}`} stages={f.graph.stages} layoutKey={`${f.name}@${f.version}`} selected={stage} onSelect={select} />
          </Suspense>
        </div>
        <StageRows stages={f.graph.stages} selected={stage} onSelect={select} />
      </Panel>
      <FlowRuns flow={f.name} />
      <div className={css["pair"]}>
        <Params flow={f} />
        <Panel title="Versions">
          <Versions flow={f.name} shown={f} />
        </Panel>
      </div>
    </Page>
  );
}

function Facts({ flow }: { flow: Schemas["Flow"] }) {
  const usual = useQuery(flowUsualQuery).data?.items.find((u) => u.flow === flow.name);
  return (
    <KeyValues
      items={[
        { name: "Owner", value: flow.owner ?? "nobody named" },
        { name: "Version", value: <code title={flow.version}>{flow.version.slice(0, 12)}</code> },
        { name: "Usual duration", value: usual ? `${duration(usual.p50_s)} (p50) – ${duration(usual.p95_s)} (p95), of ${plural(usual.samples, "run")}` : "not known yet" },
        { name: "Late after", value: flow.late_after_s === undefined ? "never" : duration(flow.late_after_s) },
        (flow.searchable?.length ?? 0) > 0 && { name: "Searchable params", value: flow.searchable?.join(", ") },
        flow.hold !== undefined && {
          name: "Paused",
          value: (
            <>
              by {flow.hold.actor}, <Time at={flow.hold.held_at} ago />
              {flow.hold.reason && `: ${flow.hold.reason}`}
            </>
          ),
        },
      ]}
    />
  );
}

/** The flow's runs, the newest first, live. */
function FlowRuns({ flow }: { flow: string }) {
  const q = `flow:${quote(flow, true)}`;
  const runs = useRuns(q, flow);
  return (
    <Panel
      title="Runs"
      flush
      aside={
        <>
          {(runs.fresh.count > 0 || runs.fresh.more) && (
            <Button small kind="primary" onClick={runs.show}>
              {count(runs.fresh.count)} new
            </Button>
          )}
          <Link to="/runs" search={{ q: `${q} state:failed` }}>
            Failed
          </Link>
          <Link to="/runs" search={{ q }}>
            Search its runs
          </Link>
        </>
      }
    >
      {runs.error && runs.rows.length === 0 ? <Failure what="its runs" error={runs.error} retry={runs.retry} /> : <RunsTable runs={runs} flow empty={<Empty title="It has not run yet">Start a run here, with <code>ax run start {flow}</code>, or over the API.</Empty>} />}
    </Panel>
  );
}

function Params({ flow }: { flow: Schemas["Flow"] }) {
  const schema = useQuery(schemaQuery(flow.name, flow.newest ? undefined : flow.version));
  return (
    <Panel title="Params">
      {schema.data === undefined ? schema.isError ? <Failure what="the params schema" error={schema.error} retry={() => void schema.refetch()} /> : <Loading what="the params schema" /> : <ParamsDoc schema={schema.data} searchable={flow.searchable ?? []} />}
    </Panel>
  );
}
