import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { Button } from "../../ui/Button";
import { DataTable, type Column } from "../../ui/DataTable";
import { Icon } from "../../ui/Icon";
import { Empty, Failure } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { SearchField } from "../../ui/SearchField";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { Time } from "../../ui/Time";
import { useSettled } from "../../ui/useSettled";
import { madeAt, spans, verbs } from "./audit";
import { AuditDrawer } from "./AuditDrawer";
import css from "./AuditScreen.module.css";
import { Target } from "./Target";

type AuditLine = Schemas["AuditLine"];

const route = getRouteApi("/audit");

/** Who did what to what, and why; the newest first. The filters and the line that is open are in the address. */
export default function AuditScreen() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/audit" });
  const set = (change: Partial<typeof search>) => void navigate({ search: (s) => ({ ...s, ...change }), replace: true });
  const { actor = "", verb = "", target = "", since = "", line } = search;
  const filter = useSettled(JSON.stringify({ actor, verb, target, since }));
  // "The last 24 hours" are counted from when the screen was opened, or the list would be another one at each drawing.
  const [opened] = useState(() => Date.now());
  const list = useInfiniteQuery({
    queryKey: keys.admin("audit", filter),
    queryFn: ({ signal, pageParam }) => {
      const f: { actor: string; verb: string; target: string; since: string } = JSON.parse(filter);
      const back = spans.find((s) => s.value === f.since)?.seconds ?? 0;
      const query = {
        limit: 200,
        ...(f.actor && { actor: f.actor }),
        ...(f.verb && { verb: f.verb }),
        ...(f.target && { target: f.target }),
        ...(back > 0 && { since: new Date(opened - back * 1000).toISOString() }),
        ...(pageParam && { cursor: pageParam }),
      };
      return answer(api.GET("/api/v1/audit", { params: { query }, signal }));
    },
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
  });
  const rows = useMemo(() => list.data?.pages.flatMap((p) => p.items) ?? [], [list.data]);
  const shown = useLine(line, rows);
  const known = useMemo(() => [...new Set([...verbs, ...rows.map((r) => r.verb), ...(verb ? [verb] : [])])].sort(), [rows, verb]);
  const filtered = Boolean(actor || verb || target || since);
  return (
    <Page
      title="Audit"
      name="Audit"
      fill
      actions={
        <Button onClick={() => void list.refetch()} disabled={list.isFetching}>
          <Icon name="reload" /> Refresh
        </Button>
      }
    >
      <div className={css["filters"]} role="search" aria-label="Filters of the audit">
        <SearchField label="Target" placeholder="Target, such as run/0192 or queue/" value={target} onChange={(v) => set({ target: v })} width={320} />
        <Select bare label="Verb" value={verb} onChange={(v) => set({ verb: v })} options={[{ value: "", label: "All verbs" }, ...known.map((v) => ({ value: v, label: v }))]} />
        <div className={css["actor"]}>
          <TextField bare label="Actor" placeholder="Actor, such as token:nightly" value={actor} onChange={(v) => set({ actor: v })} />
        </div>
        <Select bare label="How far back" value={since} onChange={(v) => set({ since: v })} options={spans.toReversed()} />
        {filtered && (
          <Button kind="quiet" onClick={() => set({ actor: "", verb: "", target: "", since: "" })}>
            Clear
          </Button>
        )}
      </div>
      {list.isError && rows.length === 0 ? (
        <Failure what="the audit" error={list.error} retry={() => void list.refetch()} />
      ) : (
        <Panel flush fill>
          <DataTable
            label="Audit"
            fill
            rows={rows}
            columns={columns}
            rowKey={idOf}
            current={line}
            loading={list.isFetching}
            more={list.hasNextPage && !list.isFetching ? () => void list.fetchNextPage() : undefined}
            onOpen={(l) => set({ line: l.id })}
            onActive={(l) => line !== undefined && set({ line: l.id })}
            empty={
              filtered ? (
                <Empty title="Nothing matches" action={<Button onClick={() => set({ actor: "", verb: "", target: "", since: "" })}>Show everything</Button>}>
                  An actor and a verb are matched as a whole, a target from its beginning.
                </Empty>
              ) : (
                <Empty title="Nothing has been done yet">Starts, operators’ verbs, and changes of tokens, settings and webhooks stand here, each with who did it and why.</Empty>
              )
            }
          />
        </Panel>
      )}
      {shown && <AuditDrawer line={shown} onClose={() => set({ line: "" })} onFilter={(change) => set(change)} />}
    </Page>
  );
}

/** The line with an id: one of those that are there, else it is read by the moment that its id names. */
function useLine(id: string | undefined, rows: readonly AuditLine[]): AuditLine | undefined {
  const known = rows.find((r) => r.id === id);
  const at = id === undefined ? undefined : madeAt(id);
  const read = useQuery({
    queryKey: keys.admin("audit", "line", id),
    queryFn: async ({ signal }) => {
      const time = at?.getTime() ?? 0;
      const page = await answer(api.GET("/api/v1/audit", { params: { query: { since: new Date(time - 60_000).toISOString(), until: new Date(time + 60_000).toISOString(), limit: 1000 } }, signal }));
      return page.items.find((l) => l.id === id) ?? null;
    },
    enabled: known === undefined && at !== undefined,
    staleTime: Infinity,
  });
  return known ?? read.data ?? undefined;
}

const idOf = (l: AuditLine): string => l.id;

const columns: Column<AuditLine>[] = [
  { id: "at", head: "When", width: 110, cell: (l) => <Time at={l.at} /> },
  { id: "actor", head: "Who", width: "1fr", min: 120, cell: (l) => <span title={l.actor}>{l.actor}</span> },
  { id: "verb", head: "Did", width: 130, cell: (l) => <strong>{l.verb}</strong> },
  { id: "target", head: "To", width: "2fr", min: 180, cell: (l) => <Target target={l.target} /> },
  { id: "reason", head: "Why", width: "2fr", min: 140, cell: (l) => <span title={l.reason}>{l.reason}</span> },
];
