import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { act } from "../../acts/host";
import { clearQueue, holdQueue } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import type { Schemas } from "../../api/client";
import { usePoll } from "../../api/live/useLive";
import { queuesQuery } from "../../api/queries";
import { Button } from "../../ui/Button";
import { DataTable, type Column } from "../../ui/DataTable";
import { count, duration, plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { Meter } from "../../ui/Meter";
import { Empty, Failure } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { SearchField } from "../../ui/SearchField";
import { ToneMark } from "../../ui/StateMark";
import { depthTone, marksOf, matches, pressureOf } from "./figures";
import { Hold } from "./Hold";
import { QueueDrawer } from "./QueueDrawer";
import css from "./QueuesScreen.module.css";

type Queue = Schemas["Queue"];

const route = getRouteApi("/queues");

/** All queues, live: what waits, what may run at once, what holds them back; and what is done about it. */
export default function QueuesScreen(): React.ReactNode {
  const { q = "", queue } = route.useSearch();
  const navigate = useNavigate({ from: "/queues" });
  const queues = useQuery({ ...queuesQuery, refetchInterval: usePoll(3_000, 3_000) });
  const may = useMay();
  const denied = may("fleet:operate");
  const all = queues.data?.items;
  const rows = useMemo(() => (all ?? []).filter((row) => matches(row, q)), [all, q]);
  const show = (name: string | undefined) => void navigate({ search: (s) => ({ ...s, queue: name }), replace: queue !== undefined });
  const columns = useMemo(() => columnsOf(denied, (name) => void navigate({ search: (s) => ({ ...s, queue: name }) })), [denied, navigate]);
  const paused = all?.filter((row) => row.hold).length ?? 0;
  return (
    <Page
      title="Queues"
      name="Queues"
      fill
      aside={
        all && (
          <span>
            {plural(all.length, "queue")}
            {paused > 0 && `, ${count(paused)} paused`}
          </span>
        )
      }
      actions={<SearchField label="Find queues" placeholder="name, paused, limited …" value={q} onChange={(next) => void navigate({ search: (s) => ({ ...s, q: next }), replace: true })} width={340} />}
    >
      {queues.isError && !all ? (
        <Failure what="the queues" error={queues.error} retry={() => void queues.refetch()} />
      ) : (
        <>
          {queues.isError && <p className={css["stale"]}>These figures are old: {queues.error.message}</p>}
          <Panel flush fill>
            <DataTable
              label="Queues"
              fill
              rows={rows}
              columns={columns}
              rowKey={nameOf}
              rowHeight={48}
              loading={queues.isPending}
              current={queue}
              onOpen={(row) => show(row.name)}
              onActive={(row) => queue !== undefined && show(row.name)}
              empty={
                q ? (
                  <Empty title="No queue matches" action={<Button onClick={() => void navigate({ search: (s) => ({ ...s, q: undefined }), replace: true })}>Show all queues</Button>} />
                ) : (
                  <Empty title="No queue is configured, paused, or holds work">
                    A run without a queue of its own goes to the queue <code>default</code>. A queue appears here when work waits in it, or when it is configured: <code>ax queue set etl --capacity 100000</code>, or{" "}
                    <Link to="/queues" search={{ queue: "default" }}>
                      open the settings of default
                    </Link>
                    .
                  </Empty>
                )
              }
            />
          </Panel>
        </>
      )}
      {queue !== undefined && all && <QueueDrawer key={queue} name={queue} queue={all.find((row) => row.name === queue)} onClose={() => show(undefined)} />}
    </Page>
  );
}

const nameOf = (row: Queue): string => row.name;

const columnsOf = (denied: string | undefined, edit: (name: string) => void): Column<Queue>[] => [
  {
    id: "name",
    head: "Queue",
    width: "2fr",
    min: 130,
    cell: (row) => (
      <Link to="/queues" search={(s) => ({ ...s, queue: row.name })} className={css["name"]}>
        {row.name}
      </Link>
    ),
  },
  {
    id: "depth",
    head: "Depth of capacity",
    title: "Tasks that wait or run, as the leader published it, of what the queue takes before starts are refused",
    width: "3fr",
    min: 170,
    cell: (row) =>
      row.capacity > 0 ? (
        <span className={css["stack"]}>
          <span>
            {count(row.depth)} <span className={css["dim"]}>of {count(row.capacity)}</span>
          </span>
          <Meter label={`Depth of ${row.name}`} share={row.depth / row.capacity} tone={depthTone(row)} marks={marksOf(row)} text={`${count(row.depth)} of ${count(row.capacity)} tasks`} />
        </span>
      ) : (
        <span className={css["dim"]}>no limit</span>
      ),
  },
  {
    id: "waiting",
    head: "Waiting",
    title: "Tasks that wait now, delayed and backing off ones too",
    width: 92,
    align: "right",
    cell: (row) => (
      <Link to="/runs" search={{ q: `queue:${row.name} state:open` }} aria-label={`${count(row.ready)} tasks wait in ${row.name}: see its open runs`}>
        {count(row.ready)}
      </Link>
    ),
  },
  { id: "oldest", head: "Oldest", title: "How long the oldest task that may be handed out has waited", width: 84, align: "right", cell: (row) => (row.ready > 0 ? duration(row.oldest_s) : <span className={css["dim"]}>–</span>) },
  {
    id: "running",
    head: "Running at once",
    title: "Tasks that run at once, of what the queue allows",
    width: "2fr",
    min: 130,
    cell: (row) =>
      row.concurrency > 0 ? (
        <span className={css["stack"]}>
          <span>
            {count(row.running)} <span className={css["dim"]}>of {count(row.concurrency)}</span>
          </span>
          <Meter label={`Running of ${row.name}`} share={row.running / row.concurrency} tone={row.running >= row.concurrency ? "warn" : "plain"} text={`${count(row.running)} of ${count(row.concurrency)} at once`} />
        </span>
      ) : (
        <span>
          {count(row.running)} <span className={css["dim"]}>no limit</span>
        </span>
      ),
  },
  { id: "flight", head: "In flight", title: "Tasks with workers, those too that they have ahead", width: 84, align: "right", cell: (row) => count(row.in_flight) },
  {
    id: "pressure",
    head: "Pressure",
    width: 112,
    cell: (row) => {
      const p = pressureOf(row);
      return p ? (
        <span className={css["mark"]} title={p.says}>
          <ToneMark tone={p.tone} size={14} /> {p.word}
        </span>
      ) : (
        <span className={css["dim"]}>–</span>
      );
    },
  },
  { id: "hold", head: "Hold", width: "3fr", min: 150, cell: (row) => <Hold hold={row.hold} /> },
  {
    id: "acts",
    head: "Actions",
    width: 128,
    align: "right",
    cell: (row) => (
      <span className={css["acts"]}>
        <Button small disabled={denied !== undefined} title={denied} aria-label={`${row.hold ? "Resume" : "Pause"} queue ${row.name}`} onClick={() => act(holdQueue(row.name, row.hold ? "resume" : "pause"))}>
          {row.hold ? "Resume" : "Pause"}
        </Button>
        <Menu
          label={`More for queue ${row.name}`}
          trigger={
            <Button kind="quiet" small>
              <Icon name="more" />
            </Button>
          }
          items={[
            { name: "Settings", onSelect: () => edit(row.name) },
            { name: "Reset to the defaults", onSelect: () => act(clearQueue(row.name)), disabled: denied !== undefined || !row.configured, ...(denied ? { hint: denied } : {}) },
          ]}
        />
      </span>
    ),
  },
];
