import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { meQuery } from "../../api/queries";
import { Button } from "../../ui/Button";
import { DataTable, type Column } from "../../ui/DataTable";
import { Icon } from "../../ui/Icon";
import { Empty, Failure } from "../../ui/Notice";
import { useNow } from "../../ui/now";
import { Page, Panel } from "../../ui/Page";
import { usePaletteActions } from "../../ui/paletteActions";
import { useShortcut } from "../../ui/shortcuts";
import { Switch } from "../../ui/Switch";
import { Time } from "../../ui/Time";
import { NewTokenDialog } from "./NewTokenDialog";
import { RevokeDialog } from "./RevokeDialog";
import { stateOf } from "./tokens";
import css from "./TokensScreen.module.css";

type Token = Schemas["Token"];

/** The tokens of the namespace: who has one, what it may, when it was used last; making and revoking them. */
export default function TokensScreen() {
  const me = useQuery(meQuery).data;
  const tokens = useInfiniteQuery({
    queryKey: keys.admin("tokens"),
    queryFn: ({ signal, pageParam }) => answer(api.GET("/api/v1/tokens", { params: { query: { limit: 200, ...(pageParam && { cursor: pageParam }) } }, signal })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
  });
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Token>();
  const [gone, setGone] = useState(false);
  // To the minute: a token's state changes seldom, and the list must not be drawn every second.
  const now = Math.floor(useNow() / 60_000) * 60_000;
  const all = useMemo(() => tokens.data?.pages.flatMap((p) => p.items) ?? [], [tokens.data]);
  const rows = useMemo(() => (gone ? all : all.filter((t) => stateOf(t, now) === "active")), [all, gone, now]);
  const columns = useMemo(() => columnsOf(now, setRevoking), [now]);
  const make = () => setMaking(true);
  useShortcut("n", "New token", make);
  usePaletteActions([{ name: "New token", hint: "n", action: make }]);
  return (
    <Page
      title="Tokens"
      name="Tokens"
      fill
      aside={me && <span>of namespace {me.namespace}</span>}
      actions={
        <>
          <Switch label="Show revoked and expired" checked={gone} onChange={setGone} />
          <Button kind="primary" onClick={make}>
            <Icon name="plus" /> New token
          </Button>
        </>
      }
    >
      {tokens.isError && all.length === 0 ? (
        <Failure what="the tokens" error={tokens.error} retry={() => void tokens.refetch()} />
      ) : (
        <Panel flush fill>
          <DataTable
            label="Tokens"
            fill
            rows={rows}
            columns={columns}
            rowKey={idOf}
            loading={tokens.isFetching && (tokens.isPending || tokens.isFetchingNextPage)}
            more={tokens.hasNextPage && !tokens.isFetching ? () => void tokens.fetchNextPage() : undefined}
            empty={
              <Empty title={all.length > 0 ? "No token is active" : "There are no tokens"} action={<Button onClick={make}>New token</Button>}>
                Programs and people without a log-in use tokens: CI that starts runs, workers, <code>ax</code> on a laptop.
              </Empty>
            }
          />
        </Panel>
      )}
      {making && <NewTokenDialog onClose={() => setMaking(false)} />}
      {revoking && <RevokeDialog token={revoking} onClose={() => setRevoking(undefined)} />}
    </Page>
  );
}

const idOf = (t: Token): string => t.id;

function columnsOf(now: number, revoke: (t: Token) => void): Column<Token>[] {
  return [
    { id: "name", head: "Name", width: "2fr", min: 140, cell: (t) => <strong title={t.name}>{t.name}</strong> },
    { id: "prefix", head: "Begins with", width: 110, cell: (t) => <code>{t.prefix}…</code> },
    {
      id: "role",
      head: "May",
      width: "2fr",
      min: 150,
      cell: (t) => (
        <span title={t.scopes?.join(", ") ?? `All that a ${t.role} may`}>
          {t.role}
          {t.scopes && <span className={css["muted"]}> · only {t.scopes.join(", ")}</span>}
          {t.cluster && <span className={css["cluster"]}>cluster</span>}
        </span>
      ),
    },
    { id: "state", head: "State", width: 90, cell: (t) => <span className={css["state"]} data-state={stateOf(t, now)}>{stateOf(t, now)}</span> },
    { id: "expires", head: "Ends", width: 130, cell: (t) => <Time at={t.revoked_at ?? t.expires_at} ago={!t.revoked_at && stateOf(t, now) === "active"} /> },
    { id: "used", head: "Last used", width: 120, cell: (t) => (t.last_used_at ? <Time at={t.last_used_at} ago /> : <span className={css["muted"]}>never</span>) },
    { id: "made", head: "Made", width: 110, cell: (t) => <Time at={t.created_at} /> },
    { id: "by", head: "By", width: "1fr", min: 110, cell: (t) => <span title={t.created_by}>{t.created_by}</span> },
    {
      id: "acts",
      head: <span className={css["hidden"]}>Verbs</span>,
      width: 96,
      align: "right",
      cell: (t) =>
        stateOf(t, now) === "active" && (
          <Button small kind="quiet" onClick={() => revoke(t)} aria-label={`Revoke ${t.name}`}>
            Revoke
          </Button>
        ),
    },
  ];
}
