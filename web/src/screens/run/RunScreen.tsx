import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { Refusal } from "../../api/client";
import { useLiveRun } from "../../api/live/useLive";
import { flowQuery, runQuery } from "../../api/queries";
import { shortId } from "../../ui/format";
import { Empty, Failure, Loading } from "../../ui/Notice";
import { Page } from "../../ui/Page";
import { StateMark } from "../../ui/StateMark";
import { Tabs } from "../../ui/Tabs";
import { Banners } from "./Banners";
import DagView from "./dag/DagView";
import { RunActions } from "./RunActions";
import { RunHead } from "./RunHead";
import css from "./RunScreen.module.css";
import { StagePanel } from "./StagePanel";
import { useExplained } from "./useExplained";

const route = getRouteApi("/runs/$run");

const JournalView = lazy(() => import("./journal/JournalView"));
const RunLogs = lazy(() => import("./logs/RunLogs"));
const ParamsView = lazy(() => import("./params/ParamsView"));
/** The views that share a selection. The graph comes with the screen: most look at it, and a part that is loaded later shows 300 ms later too. */
const views = { dag: DagView, gantt: lazy(() => import("./gantt/GanttView")), table: lazy(() => import("./table/StageTable")) };

const tabs = [
  { value: "dag", label: "Graph" },
  { value: "gantt", label: "Gantt" },
  { value: "table", label: "Stages" },
  { value: "logs", label: "Logs" },
  { value: "journal", label: "Journal" },
  { value: "params", label: "Params and result" },
] as const;
type View = (typeof tabs)[number]["value"];

/** A run: how it is in a few lines, and its stages as a graph, over time, and as a table. */
export default function RunScreen() {
  const { run } = route.useParams();
  const { view: wanted, stage } = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run" });
  const read = useQuery(runQuery(run));
  const detail = read.data;
  const flow = useQuery({ ...flowQuery(detail?.run.flow ?? "", detail?.run.version), enabled: detail !== undefined });
  const explained = useExplained(detail);

  if (!detail) {
    return (
      <Page title={`Run ${shortId(run)}`} name={`Run ${shortId(run)}`}>
        {read.isError ? <Missing run={run} error={read.error} retry={() => void read.refetch()} /> : <Loading what="the run" lines={6} />}
      </Page>
    );
  }
  const view: View = tabs.find((t) => t.value === wanted)?.value ?? "dag";
  const selected = detail.stages.some((s) => s.name === stage) ? stage : undefined;
  const onSelect = (next: string | undefined) => void navigate({ to: ".", search: (s) => ({ ...s, stage: next }), replace: stage !== undefined });
  const Shown = view === "journal" || view === "params" || view === "logs" ? undefined : views[view];
  return (
    <Page
      fill
      name={`${detail.run.flow} ${shortId(run)}`}
      title={
        <span className={css["title"]}>
          <StateMark state={detail.run.paused && detail.run.state === "running" ? "paused" : detail.run.state} size={18} />
          <Link to="/flows/$flow" params={{ flow: detail.run.flow }}>
            {detail.run.flow}
          </Link>
        </span>
      }
      actions={<RunActions detail={detail} />}
    >
      <Live run={run} />
      <RunHead detail={detail} explained={explained.data} failed={explained.isError} />
      <Banners detail={detail} flow={flow.data} />
      <div className={css["content"]}>
        <div className={css["main"]}>
          <Tabs label="Views of the run" value={view} tabs={tabs} onChange={(next) => void navigate({ to: ".", search: (s) => ({ ...s, view: next === "dag" ? undefined : next }) })} />
          <div className={css["view"]} data-view={view}>
            <Suspense fallback={<Loading what="the view" lines={5} />}>
              {view === "journal" ? (
                <JournalView run={run} live={detail.run.finished_at === undefined} />
              ) : view === "logs" ? (
                <RunLogs detail={detail} />
              ) : view === "params" ? (
                <ParamsView detail={detail} />
              ) : flow.data && Shown ? (
                <Shown detail={detail} flow={flow.data} selected={selected} onSelect={onSelect} />
              ) : flow.isError ? (
                <Failure what="the flow" error={flow.error} retry={() => void flow.refetch()} />
              ) : (
                <Loading what="the flow" lines={5} />
              )}
            </Suspense>
          </div>
        </div>
        {selected !== undefined && flow.data && Shown && <StagePanel key={selected} detail={detail} flow={flow.data} stage={selected} explained={explained.data} onSelect={onSelect} />}
      </div>
    </Page>
  );
}

/** Keeps the run up to date, once it is known to exist: a stream of one that does not would be refused again and again. */
function Live({ run }: { run: string }) {
  useLiveRun(run);
  return null;
}

function Missing({ run, error, retry }: { run: string; error: unknown; retry: () => void }) {
  const code = error instanceof Refusal ? error.problem.code : undefined;
  if (code !== "not_found" && code !== "invalid") return <Failure what="the run" error={error} retry={retry} />;
  return (
    <Empty title="There is no such run" action={<Link to="/runs">To the runs</Link>}>
      {code === "invalid" ? `“${run}” is not a run’s id: those look like 01937f2e-5b7e-7cc3-98c4-dc0c0c07398f.` : `No run ${run} is in your namespace. It may be in another one, or so old that it was deleted.`}
    </Empty>
  );
}
