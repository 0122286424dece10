import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { answer, api, type Schemas } from "../../../api/client";
import { keys } from "../../../api/keys";
import { usePoll } from "../../../api/live/useLive";
import { DataTable, type Column } from "../../../ui/DataTable";
import { Empty, Failure } from "../../../ui/Notice";
import { Time } from "../../../ui/Time";
import css from "./JournalView.module.css";
import { detailWords } from "./words";

/** What operators and the engine did to a run, oldest first. */
export default function JournalView({ run, live }: { run: string; live: boolean }) {
  const poll = usePoll(5_000, 5_000);
  const read = useInfiniteQuery({
    queryKey: keys.run(run, "journal"),
    queryFn: ({ pageParam, signal }) => answer(api.GET("/api/v1/runs/{run}/journal", { params: { path: { run }, query: { limit: 200, ...(pageParam === undefined ? {} : { cursor: pageParam }) } }, signal })),
    initialPageParam: undefined as string | undefined, // the type of later ones
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: live ? poll : false,
  });
  const lines = useMemo(() => read.data?.pages.flatMap((p) => p.items) ?? [], [read.data]);
  const columns = useMemo(() => columnsOf(run), [run]);
  if (read.isError && lines.length === 0) return <Failure what="the journal" error={read.error} retry={() => void read.refetch()} />;
  return (
    <DataTable
      fill
      label="Journal of the run"
      rows={lines}
      columns={columns}
      rowKey={(l) => l.id}
      loading={read.isPending || read.isFetchingNextPage}
      more={read.hasNextPage && !read.isFetchingNextPage ? () => void read.fetchNextPage() : undefined}
      empty={<Empty title="Nobody has done anything to this run">What operators do (pause, retry, rerun, skip …) and what the engine decides out of the ordinary (late, stuck) stands here, with who did it and why.</Empty>}
    />
  );
}

const columnsOf = (run: string): Column<Schemas["JournalLine"]>[] => [
  { id: "at", head: "When", width: 130, cell: (l) => <Time at={l.at} /> },
  { id: "kind", head: "What", width: 150, cell: (l) => <strong>{l.kind.replaceAll("_", " ")}</strong> },
  {
    id: "stage",
    head: "Stage",
    width: 180,
    cell: (l) =>
      l.stage === undefined ? (
        <span className={css["quiet"]}>whole run</span>
      ) : (
        <Link to="/runs/$run/stages/$stage" params={{ run, stage: l.stage }}>
          {l.stage}
          {(l.generation ?? 1) > 1 && ` (generation ${l.generation})`}
        </Link>
      ),
  },
  { id: "actor", head: "Who", width: 190, cell: (l) => l.actor },
  {
    id: "why",
    head: "Why, and more",
    cell: (l) => {
      const { reason, rest } = detailWords(l.detail);
      return (
        <span title={[reason, rest].filter(Boolean).join(" · ")}>
          {reason} {rest && <span className={css["quiet"]}>{rest}</span>}
        </span>
      );
    },
  },
];
