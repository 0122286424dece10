import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { act } from "../../acts/host";
import { useMay } from "../../acts/useMay";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { Button } from "../../ui/Button";
import { DataTable, type Column } from "../../ui/DataTable";
import { plural, shortId } from "../../ui/format";
import { Empty, Failure } from "../../ui/Notice";
import { Time } from "../../ui/Time";
import css from "./Dead.module.css";
import { firstOf } from "./letters";
import { onLetters } from "./requests";

type Letter = Schemas["DeadLetter"];

const reasons: Record<Letter["reason"], string> = { dead: "out of attempts", poison: "killed its workers", expired: "out of time" };

const columns: Column<Letter>[] = [
  {
    id: "run",
    head: "Run",
    width: 150,
    cell: (l) => (
      <Link to="/runs/$run" params={{ run: l.run }} title={l.run}>
        {shortId(l.run)}
      </Link>
    ),
  },
  { id: "shards", head: "Shards", width: 120, cell: (l) => <span title={l.shards}>{l.shards === "-1" ? "plan" : l.shards}</span> },
  { id: "attempt", head: "Attempts", width: 80, align: "right", cell: (l) => l.attempt },
  { id: "reason", head: "Why dead", width: 130, cell: (l) => (l.reason === "dead" && !l.failure.retryable ? "permanent" : reasons[l.reason]) },
  { id: "died", head: "Died", width: 110, cell: (l) => <Time at={l.died_at} /> },
  { id: "error", head: "Error", width: "1fr", min: 160, cell: (l) => <span title={l.failure.message}>{l.failure.message}</span> },
];

/** The letters of a group, newest first: Enter opens a letter's task. */
export function Letters({ filter }: { filter: Schemas["DeadFilter"] }) {
  const navigate = useNavigate();
  const may = useMay();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const list = useInfiniteQuery({
    queryKey: keys.dead("letters", filter),
    queryFn: ({ signal, pageParam }) => answer(api.GET("/api/v1/dead-letters", { params: { query: { ...filter, limit: 100, ...(pageParam && { cursor: pageParam }) } }, signal })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
  });
  const rows = useMemo(() => list.data?.pages.flatMap((p) => p.items) ?? [], [list.data]);
  // Letters that have been replayed meanwhile are no longer there to act on.
  const chosen = rows.filter((l) => selected.has(l.id));
  const refused = may("runs:operate");
  if (list.isError) return <Failure what="the dead letters" error={list.error} retry={() => void list.refetch()} />;
  return (
    <>
      {chosen.length > 0 && (
        <div className={css["acts"]}>
          <span role="status">{plural(chosen.length, "letter")} selected</span>
          <Button small kind="primary" disabled={refused !== undefined} title={refused} onClick={() => act(onLetters(chosen, "replay"))}>
            Replay these
          </Button>
          <Button small kind="danger" disabled={refused !== undefined} title={refused} onClick={() => act(onLetters(chosen, "discard"))}>
            Discard these
          </Button>
        </div>
      )}
      <div className={css["table"]}>
        <DataTable
          label="Dead letters of the group"
          rows={rows}
          columns={columns}
          rowKey={(l) => l.id}
          onOpen={(l) => void navigate({ to: "/runs/$run/stages/$stage/shards/$shard", params: { run: l.run, stage: l.stage, shard: firstOf(l.shards) } })}
          selected={selected}
          onSelect={setSelected}
          more={list.hasNextPage && !list.isFetching ? () => void list.fetchNextPage() : undefined}
          loading={list.isPending || list.isFetchingNextPage}
          maxRows={10}
          empty={<Empty title="Nothing is dead here any more" />}
        />
      </div>
    </>
  );
}
