import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";
import { buttonClass } from "../../ui/Button";
import { DataTable, type Column } from "../../ui/DataTable";
import { count, percent, rate, shortId } from "../../ui/format";
import { Empty, Failure } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { ToneMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import { ReplayDetail } from "./ReplayDetail";
import css from "./Replays.module.css";
import { filterParts, going, tones } from "./states";

type Replay = Schemas["Replay"];

const route = getRouteApi("/replays");

const columns: Column<Replay>[] = [
  {
    id: "state",
    head: "State",
    width: 110,
    cell: (r) => (
      <span className={css["state"]}>
        <ToneMark tone={tones[r.state]} size={14} /> {r.state}
      </span>
    ),
  },
  {
    id: "filter",
    head: "What",
    width: "2fr",
    min: 180,
    cell: (r) => (
      <span className={css["filter"]}>
        {filterParts(r.filter)
          .filter(([name]) => name !== "until")
          .map(([name, value]) => (
            <span key={name}>
              {name} {name === "run" ? shortId(value) : name === "group" ? value.slice(0, 8) : value}
            </span>
          ))}
      </span>
    ),
  },
  { id: "moved", head: "Moved", width: 130, align: "right", cell: (r) => `${count(r.moved)} of ${count(r.total)}` },
  { id: "share", head: "Share", width: 70, align: "right", cell: (r) => percent(r.moved, r.total) },
  { id: "canary", head: "Canary", width: 110, align: "right", cell: (r) => (r.canary ? `${count(r.failed)} of ${count(Math.min(r.canary, r.total))} failed` : "none") },
  { id: "rate", head: "Rate", width: 80, align: "right", cell: (r) => (r.per_second ? rate(r.per_second) : "–") },
  { id: "actor", head: "By", width: "1fr", min: 90, cell: (r) => r.actor ?? "–" },
  { id: "reason", head: "Reason", width: "1.5fr", min: 110, cell: (r) => <span title={r.reason}>{r.reason ?? "–"}</span> },
  { id: "began", head: "Began", width: 110, cell: (r) => <Time at={r.created_at} /> },
];

/** The list beside an open replay: what the detail says is left out. */
const few = columns.filter((c) => ["state", "filter", "moved", "began"].includes(c.id));

/** Replays of dead letters, newest first, and one of them in detail. */
export default function ReplaysScreen() {
  const { replay } = route.useSearch();
  const navigate = route.useNavigate();
  const [fast, slow] = [usePoll(2000, 2000), usePoll(15_000, 15_000)];
  const list = useInfiniteQuery({
    queryKey: keys.replays("list"),
    queryFn: ({ signal, pageParam }) => answer(api.GET("/api/v1/replays", { params: { query: { limit: 100, ...(pageParam && { cursor: pageParam }) } }, signal })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (query) => (query.state.data?.pages[0]?.items.some(going) ? fast : slow),
  });
  const rows = useMemo(() => list.data?.pages.flatMap((p) => p.items) ?? [], [list.data]);
  const open = (id: string | undefined) => void navigate({ search: (s) => ({ ...s, replay: id }), replace: true });
  return (
    <Page
      title="Replays"
      name="Replays"
      actions={
        <Link className={buttonClass} to="/dead-letters">
          Dead letters
        </Link>
      }
    >
      <div className={css["columns"]} data-two={replay ? true : undefined}>
        <Panel flush>
          {list.isError ? (
            <Failure what="the replays" error={list.error} retry={() => void list.refetch()} />
          ) : (
            <DataTable
              label="Replays"
              rows={rows}
              columns={replay ? few : columns}
              rowKey={(r) => r.id ?? ""}
              current={replay}
              onOpen={(r) => open(r.id)}
              more={list.hasNextPage && !list.isFetching ? () => void list.fetchNextPage() : undefined}
              loading={list.isPending || list.isFetchingNextPage}
              empty={<Empty title="Nothing has been replayed yet">Choose dead letters and replay them: how far that is stands here.</Empty>}
            />
          )}
        </Panel>
        {replay && <ReplayDetail key={replay} id={replay} onClose={() => open(undefined)} />}
      </div>
    </Page>
  );
}
