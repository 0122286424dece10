import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";
import { DataTable, type Column } from "../../ui/DataTable";
import { count, duration, shortId } from "../../ui/format";
import { Empty, Failure } from "../../ui/Notice";
import { SearchField } from "../../ui/SearchField";
import { Select } from "../../ui/Select";
import { StateMark } from "../../ui/StateMark";
import { wordOf } from "../../ui/states";
import { Time } from "../../ui/Time";
import { parseSpans } from "./heat/spans";
import { route } from "./route";
import css from "./ShardsTab.module.css";

type Item = Schemas["ShardItem"];

const states: readonly Schemas["ShardState"][] = ["waiting", "ready", "delayed", "retrying", "in_flight", "aligned", "child", "succeeded", "dead", "expired", "discarded", "cancelled", "skipped", "upstream_failed"];

const took = (item: Item): number | undefined => item.last && (Date.parse(item.last.finished_at) - Date.parse(item.last.started_at)) / 1000;

const columns: Column<Item>[] = [
  { id: "index", head: "Index", width: 90, align: "right", cell: (s) => s.index },
  { id: "key", head: "Key", width: "1fr", min: 120, cell: (s) => s.key ?? "–" },
  { id: "state", head: "State", width: 130, cell: (s) => <StateMark state={s.state} /> },
  { id: "attempt", head: "Attempt", width: 80, align: "right", cell: (s) => s.attempt ?? "–" },
  { id: "started", head: "Started", width: 110, cell: (s) => (s.not_before ? <>due <Time at={s.not_before} /></> : <Time at={s.last?.started_at} />) },
  { id: "took", head: "Took", width: 90, align: "right", cell: (s) => (took(s) === undefined ? "–" : duration(took(s) ?? 0)) },
  { id: "worker", head: "Worker", width: 140, cell: (s) => (s.worker ?? s.last?.worker ? shortId(s.worker ?? s.last?.worker ?? "") : "–") },
  { id: "error", head: "Error of the newest attempt", width: "2fr", min: 160, cell: (s) => <span className={css["error"]} title={s.last?.failure?.message}>{s.last?.failure ? `${s.last.failure.code}: ${s.last.failure.message}` : ""}</span> },
];

/** The shards as a table, by index: filtered by state, by index, or by a part of their key. What the map has selected is what is listed. */
export function ShardsTab({ run, status, selected }: { run: string; status: Schemas["StageStatus"]; /** As a set. */ selected: string | undefined }) {
  const { state, q = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const poll = usePoll(5000, 5000);
  // Digits are indices; everything else is looked for in keys, which the server does not know how to do: pages are read until enough match.
  const asked = q.trim();
  const indices = asked !== "" && parseSpans(asked) ? asked : (selected?.length ?? 0) <= 4000 ? selected : undefined;
  const key = asked !== "" && !parseSpans(asked) ? asked.toLowerCase() : "";
  const list = useInfiniteQuery({
    queryKey: keys.stage(run, status.name, "shards", state ?? "", indices ?? "", key === "" ? 100 : 1000),
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/v1/runs/{run}/stages/{stage}/shards", {
          params: { path: { run, stage: status.name }, query: { ...(state && { state }), ...(indices && { indices }), ...(pageParam && { cursor: pageParam }), limit: key === "" ? 100 : 1000 } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
    // Many pages read again every few seconds would cost more than they tell.
    refetchInterval: (query) => (status.finished_at === undefined && (query.state.data?.pages.length ?? 0) <= 3 ? poll : false),
  });
  const all = useMemo(() => list.data?.pages.flatMap((p) => p.items) ?? [], [list.data]);
  const rows = useMemo(() => (key === "" ? all : all.filter((s) => s.key?.toLowerCase().includes(key))), [all, key]);
  const { hasNextPage, isFetching, fetchNextPage } = list;
  const searching = key !== "" && hasNextPage && rows.length < 100;
  useEffect(() => {
    if (searching && !isFetching) void fetchNextPage();
  }, [searching, isFetching, fetchNextPage]);
  const set = (params: { state?: string | undefined; q?: string | undefined }) => void navigate({ search: (s) => ({ ...s, ...params }), replace: true, resetScroll: false });
  return (
    <>
      <div className={css["tools"]}>
        <SearchField label="Find by index (0-99,117) or a part of the key" value={q} onChange={(next) => set({ q: next || undefined })} width={330} />
        <Select label="State" bare value={state ?? "any"} onChange={(next) => set({ state: next === "any" ? undefined : next })} options={[{ value: "any", label: "Any state" }, ...(state?.includes(",") ? [{ value: state, label: state.split(",").join(", ") }] : []), ...states.map((value) => ({ value, label: wordOf(value) }))]} />
        <span className={css["note"]} role="status">
          {searching ? `Looking through keys: ${count(all.length)} of ${count(status.total)}` : selected && !asked ? "The selected shards" : ""}
        </span>
      </div>
      {list.isError ? (
        <Failure what="the shards" error={list.error} retry={() => void list.refetch()} />
      ) : (
        <DataTable
          label={`Shards of ${status.name}`}
          rows={rows}
          columns={columns}
          rowKey={(s) => String(s.index)}
          onOpen={(s) => void navigate({ to: "/runs/$run/stages/$stage/shards/$shard", params: { run, stage: status.name, shard: String(s.index) } })}
          more={hasNextPage && !isFetching ? () => void fetchNextPage() : undefined}
          loading={list.isPending || isFetching}
          maxRows={15}
          empty={<Empty title="No shard matches">{state || selected || asked ? "Take a filter away to see more." : "The stage has none."}</Empty>}
        />
      )}
    </>
  );
}
