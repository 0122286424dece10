import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { act } from "../../acts/host";
import { clearPool } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import type { Schemas } from "../../api/client";
import { usePoll } from "../../api/live/useLive";
import { Button } from "../../ui/Button";
import { DataTable, type Column } from "../../ui/DataTable";
import { count, percent, plural } from "../../ui/format";
import { Meter } from "../../ui/Meter";
import { Empty, Failure } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { SearchField } from "../../ui/SearchField";
import { ToneMark } from "../../ui/StateMark";
import { matches, nameOf, perWorker } from "./figures";
import css from "./PoolsScreen.module.css";
import { poolsQuery } from "./query";
import { SetSlots } from "./SetSlots";

type Pool = Schemas["Pool"];

const route = getRouteApi("/pools");

/** The workers' slots by handler: how many there are, how many are used, and how many each worker has. */
export default function PoolsScreen(): React.ReactNode {
  const { q = "" } = route.useSearch();
  const navigate = useNavigate({ from: "/pools" });
  const pools = useQuery({ ...poolsQuery, refetchInterval: usePoll(3_000, 3_000) });
  const denied = useMay()("fleet:operate");
  const [setting, setSetting] = useState<Pool>();
  const all = pools.data?.items;
  const rows = useMemo(() => (all ?? []).filter((p) => matches(p, q)), [all, q]);
  const columns = useMemo(() => columnsOf(denied, setSetting), [denied]);
  const busy = all?.filter((p) => p.flagged).length ?? 0;
  return (
    <Page
      title="Pools"
      name="Pools"
      fill
      aside={
        all && (
          <span>
            {plural(all.length, "handler")}
            {busy > 0 && `, ${count(busy)} over 80 % busy`}
          </span>
        )
      }
      actions={<SearchField label="Find pools" placeholder="flow/stage, busy, set …" value={q} onChange={(next) => void navigate({ search: (s) => ({ ...s, q: next }), replace: true })} width={340} />}
    >
      {pools.isError && !all ? (
        <Failure what="the pools" error={pools.error} retry={() => void pools.refetch()} />
      ) : (
        <>
          {pools.isError && <p className={css["stale"]}>These figures are old: {pools.error.message}</p>}
          <Panel flush fill>
            <DataTable
              label="Pools"
              fill
              rows={rows}
              columns={columns}
              rowKey={nameOf}
              rowHeight={48}
              loading={pools.isPending}
              {...(denied === undefined ? { onOpen: setSetting } : {})}
              empty={
                q ? (
                  <Empty title="No pool matches" action={<Button onClick={() => void navigate({ search: (s) => ({ ...s, q: undefined }), replace: true })}>Show all pools</Button>} />
                ) : (
                  <Empty title="No worker has a handler">
                    Each worker has a pool of slots for each stage that it can run. Start a worker, and its pools stand here. <Link to="/workers">See the workers</Link>
                  </Empty>
                )
              }
            />
          </Panel>
        </>
      )}
      {setting && <SetSlots pool={setting} onClose={() => setSetting(undefined)} />}
    </Page>
  );
}

const columnsOf = (denied: string | undefined, set: (pool: Pool) => void): Column<Pool>[] => [
  {
    id: "handler",
    head: "Handler",
    width: "3fr",
    min: 180,
    cell: (p) => (
      <span className={css["cut"]} title={nameOf(p)}>
        <Link to="/flows/$flow" params={{ flow: p.flow }} search={{ stage: p.stage }}>
          {p.flow} / <b>{p.stage}</b>
        </Link>
      </span>
    ),
  },
  {
    id: "used",
    head: "Slots used",
    title: "Tasks that run, of the slots of all workers",
    width: "3fr",
    min: 170,
    cell: (p) =>
      p.workers === 0 ? (
        <span className={css["none"]}>
          <ToneMark tone={p.busy > 0 ? "failed" : "waiting"} size={14} /> no worker has it
        </span>
      ) : (
        <span className={css["stack"]}>
          <span>
            {count(p.busy)} <span className={css["dim"]}>of {count(p.slots)}</span>
            {p.flagged && (
              <span className={css["flag"]}>
                <ToneMark tone="retrying" /> busy
              </span>
            )}
          </span>
          <Meter label={`Slots of ${nameOf(p)}`} share={p.share} tone={p.flagged ? "warn" : "plain"} text={`${count(p.busy)} of ${count(p.slots)} slots`} />
        </span>
      ),
  },
  { id: "share", head: "Share", width: 72, align: "right", cell: (p) => percent(Math.min(p.busy, p.slots), p.slots) },
  {
    id: "workers",
    head: "Workers",
    width: 84,
    align: "right",
    cell: (p) => (
      <Link to="/workers" search={{ q: nameOf(p) }} aria-label={`${plural(p.workers, "worker")} with ${nameOf(p)}`}>
        {count(p.workers)}
      </Link>
    ),
  },
  { id: "each", head: "Slots a worker", width: 120, align: "right", cell: perWorker },
  { id: "by", head: "Decided by", width: "2fr", min: 110, cell: (p) => <span className={css["cut"]}>{p.set === undefined ? <span className={css["dim"]}>the workers</span> : (p.set_by ?? "an operator")}</span> },
  {
    id: "acts",
    head: "Actions",
    width: 132,
    align: "right",
    cell: (p) => (
      <span className={css["acts"]}>
        <Button small disabled={denied !== undefined} title={denied} aria-label={`Set the slots of ${nameOf(p)}`} onClick={() => set(p)}>
          Set…
        </Button>
        <Button small kind="quiet" disabled={denied !== undefined || p.set === undefined} title={p.set === undefined ? "The workers decide already" : denied} aria-label={`Clear the slots of ${nameOf(p)}: the workers decide`} onClick={() => act(clearPool(p.flow, p.stage))}>
          Clear
        </Button>
      </span>
    ),
  },
];
