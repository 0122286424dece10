import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useRef, useState, useEffect } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { useLiveRuns, usePoll } from "../../api/live/useLive";
import { flowUsualQuery } from "../../api/queries";
import { act } from "../../acts/host";
import { holdFlow } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import { Button, buttonClass } from "../../ui/Button";
import { DataTable, type Column } from "../../ui/DataTable";
import { count, duration } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { Empty, Failure } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { SearchField } from "../../ui/SearchField";
import { StateMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import css from "./FlowsScreen.module.css";

type Flow = Schemas["FlowSummary"];

const route = getRouteApi("/flows");

/** All flows: who owns them, how their runs go, and how to start one. */
export default function FlowsScreen() {
  const { q = "" } = route.useSearch();
  const go = useNavigate({ from: "/flows" });
  const list = useInfiniteQuery({
    queryKey: [...keys.flows, "list", q],
    queryFn: ({ pageParam, signal }) => answer(api.GET("/api/v1/flows", { params: { query: { limit: 100, ...(q ? { q } : {}), ...(pageParam ? { cursor: pageParam } : {}) } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: (before) => before,
    refetchInterval: usePoll(10_000, 60_000),
  });
  useFreshFlows();
  const usual = useQuery(flowUsualQuery).data;
  const may = useMay();
  const rows = useMemo(() => list.data?.pages.flatMap((p) => p.items) ?? [], [list.data]);
  const columns = useMemo(() => flowColumns(new Map(usual?.items.map((u) => [u.flow, u])), may("runs:start"), may("flows:operate")), [usual, may]);
  return (
    <Page
      fill
      title="Flows"
      name="Flows"
      actions={<SearchField label="Search flows" width={320} value={q} onChange={(next) => void go({ search: (s) => ({ ...s, q: next }), replace: true })} />}
    >
      <Panel flush className={css["panel"]}>
        {list.isError && rows.length === 0 ? (
          <Failure what="the flows" error={list.error} retry={() => void list.refetch()} />
        ) : (
          <DataTable
            label="Flows"
            fill
            rowHeight={48}
            rows={rows}
            columns={columns}
            rowKey={rowKey}
            onOpen={(flow) => void go({ to: "/flows/$flow", params: { flow: flow.name } })}
            more={list.hasNextPage && !list.isFetchingNextPage ? () => void list.fetchNextPage() : undefined}
            loading={list.isPending || list.isFetchingNextPage}
            empty={
              q ? (
                <Empty title={`No flow’s name holds “${q}”`} action={<Button onClick={() => void go({ search: (s) => ({ ...s, q: "" }) })}>Show all flows</Button>} />
              ) : (
                <Empty title="There are no flows yet">
                  A flow is there once a worker that has it has started: run your program with <code>ax worker</code>, or see the examples.
                </Empty>
              )
            }
          />
        )}
      </Panel>
    </Page>
  );
}

const rowKey = (flow: Flow): string => flow.name;

/** Reads the flows anew some seconds after runs have begun or ended, however many did. */
function useFreshFlows(): void {
  const cache = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [stale, setStale] = useState(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (stale > 0) void cache.invalidateQueries({ queryKey: [...keys.flows, "list"] });
  }, [cache, stale]);
  const soon = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      setStale((n) => n + 1);
    }, 4_000);
  };
  useLiveRuns(soon, soon);
}

function flowColumns(usual: ReadonlyMap<string, Schemas["FlowUsual"]>, noStart: string | undefined, noHold: string | undefined): Column<Flow>[] {
  return [
    {
      id: "name",
      head: "Flow",
      width: "3fr",
      min: 220,
      cell: (flow) => (
        <span className={css["flow"]}>
          <span className={css["name"]}>
            <Link to="/flows/$flow" params={{ flow: flow.name }} tabIndex={-1}>
              {flow.name}
            </Link>
            {flow.paused && <StateMark state="paused" />}
          </span>
          <span className={css["about"]} title={flow.description}>
            {flow.description}
          </span>
        </span>
      ),
    },
    { id: "owner", head: "Owner", width: "1fr", min: 90, cell: (flow) => flow.owner ?? "" },
    { id: "stages", head: "Stages", width: 64, align: "right", cell: (flow) => count(flow.stages) },
    {
      id: "open",
      head: "Open runs",
      width: 88,
      align: "right",
      title: "Runs that are running or being cancelled",
      cell: (flow) =>
        flow.open_runs ? (
          <Link to="/runs" search={{ q: `flow:${flow.name} state:open` }} tabIndex={-1}>
            {flow.open_runs >= 1000 ? "1,000+" : count(flow.open_runs)}
          </Link>
        ) : (
          <span className={css["muted"]}>{flow.open_runs === undefined ? "–" : "0"}</span>
        ),
    },
    {
      id: "last",
      head: "Last run",
      width: 190,
      cell: (flow) =>
        flow.last_run ? (
          <Link to="/runs/$run" params={{ run: flow.last_run.id }} className={css["last"]} tabIndex={-1}>
            <StateMark state={flow.last_run.state} />
            <span className={css["muted"]}>
              <Time at={flow.last_run.created_at} ago />
            </span>
          </Link>
        ) : (
          <span className={css["muted"]}>never</span>
        ),
    },
    {
      id: "usual",
      head: "Usual (p50 – p95)",
      width: 132,
      align: "right",
      title: "How long the newest runs that succeeded took",
      cell: (flow) => {
        const u = usual.get(flow.name);
        return u ? (
          <span title={`Of ${u.samples} runs that succeeded`}>
            {duration(u.p50_s)} – {duration(u.p95_s)}
          </span>
        ) : (
          <span className={css["muted"]}>–</span>
        );
      },
    },
    { id: "version", head: "Version", width: 80, cell: (flow) => <code title={`${flow.version}, registered ${flow.updated_at}`}>{flow.version.slice(0, 7)}</code> },
    {
      id: "start",
      head: "",
      width: 116,
      cell: (flow) => (
        <span className={css["acts"]}>
          <Link to="/flows/$flow/start" params={{ flow: flow.name }} className={buttonClass} data-small data-kind="plain" disabled={noStart !== undefined} title={noStart} aria-label={`Start ${flow.name}`} tabIndex={-1}>
            <Icon name="play" size={12} /> Start
          </Link>
          <Menu
            label={`Acts on flow ${flow.name}`}
            trigger={
              <Button kind="quiet" small tabIndex={-1}>
                <Icon name="more" />
              </Button>
            }
            items={[flow.paused ? "resume" as const : "pause" as const].map((hold) => ({ name: hold === "pause" ? "Pause…" : "Resume…", onSelect: () => act(holdFlow(flow.name, hold)), ...(noHold === undefined ? {} : { disabled: true, hint: noHold }) }))}
          />
        </span>
      ),
    },
  ];
}
