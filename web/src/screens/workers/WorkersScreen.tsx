import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { act } from "../../acts/host";
import { drainWorker } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import type { Schemas } from "../../api/client";
import { usePoll } from "../../api/live/useLive";
import { workersQuery } from "../../api/queries";
import { Button } from "../../ui/Button";
import { DataTable, type Column } from "../../ui/DataTable";
import { count, duration, plural } from "../../ui/format";
import { Meter } from "../../ui/Meter";
import { Empty, Failure } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { SearchField } from "../../ui/SearchField";
import { ToneMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import { beatAge, conditionOf, handlersOf, matches, slotsOf, toneOfCondition } from "./figures";
import { useReadAt } from "./useReadAt";
import { WorkerDrawer } from "./WorkerDrawer";
import css from "./WorkersScreen.module.css";

type Worker = Schemas["Worker"];

const route = getRouteApi("/workers");

/** All workers, live: whether they are heard of, how busy they are, and what they can run. */
export default function WorkersScreen(): React.JSX.Element {
  const { q = "", worker } = route.useSearch();
  const navigate = useNavigate({ from: "/workers" });
  const workers = useQuery({ ...workersQuery, refetchInterval: usePoll(2_000, 2_000) });
  const readAt = useReadAt(workers.dataUpdatedAt);
  const may = useMay();
  const denied = may("fleet:operate");
  const all = workers.data?.items;
  const rows = useMemo(() => (all ?? []).filter((w) => matches(w, q, readAt)), [all, q, readAt]);
  const columns = useMemo(() => columnsOf(readAt, denied), [readAt, denied]);
  const show = (id: string | undefined) => void navigate({ search: (s) => ({ ...s, worker: id }), replace: worker !== undefined });
  const silent = all?.filter((w) => conditionOf(w, readAt) === "silent").length ?? 0;
  return (
    <Page
      title="Workers"
      name="Workers"
      fill
      aside={
        all && (
          <span className={css["aside"]}>
            {plural(all.length, "worker")}
            {silent > 0 && (
              <span className={css["loud"]}>
                <ToneMark tone="failed" /> {count(silent)} silent
              </span>
            )}
          </span>
        )
      }
      actions={<SearchField label="Find workers" placeholder="host, label, silent …" value={q} onChange={(next) => void navigate({ search: (s) => ({ ...s, q: next }), replace: true })} width={360} />}
    >
      {workers.isError && !all ? (
        <Failure what="the workers" error={workers.error} retry={() => void workers.refetch()} />
      ) : (
        <>
          {workers.isError && <p className={css["stale"]}>These figures are old: {workers.error.message}</p>}
          <Panel flush fill>
            <DataTable
              label="Workers"
              fill
              rows={rows}
              columns={columns}
              rowKey={idOf}
              rowHeight={48}
              loading={workers.isPending}
              current={worker}
              onOpen={(row) => show(row.id)}
              onActive={(row) => worker !== undefined && show(row.id)}
              empty={
                q ? (
                  <Empty title="No worker matches" action={<Button onClick={() => void navigate({ search: (s) => ({ ...s, q: undefined }), replace: true })}>Show all workers</Button>} />
                ) : (
                  <Empty title="No worker is there">
                    What is started waits until one is. Run the <code>worker</code> command of the program that has your flows, with <code>AX_DATABASE_URL</code> set, on as many machines as you like.
                  </Empty>
                )
              }
            />
          </Panel>
        </>
      )}
      {worker !== undefined && all && <WorkerDrawer key={worker} id={worker} worker={all.find((w) => w.id === worker)} readAt={readAt} onClose={() => show(undefined)} />}
    </Page>
  );
}

const idOf = (row: Worker): string => row.id;

const columnsOf = (readAt: number, denied: string | undefined): Column<Worker>[] => [
  {
    id: "host",
    head: "Worker",
    width: "2fr",
    min: 150,
    cell: (w) => (
      <Link to="/workers" search={(s) => ({ ...s, worker: w.id })} className={css["name"]} title={w.id}>
        {w.host}
        <span className={css["dim"]}>/{w.pid}</span>
      </Link>
    ),
  },
  {
    id: "state",
    head: "State",
    width: 108,
    cell: (w) => {
      const condition = conditionOf(w, readAt);
      return (
        <span className={css["mark"]} data-condition={condition}>
          <ToneMark tone={toneOfCondition[condition]} size={14} /> {condition}
        </span>
      );
    },
  },
  {
    id: "beat",
    head: "Heartbeat",
    title: "How long ago it was heard of; it should speak every 2 s",
    width: 104,
    align: "right",
    cell: (w) => (
      <span className={css["mark"]} data-condition={conditionOf(w, readAt)} data-quiet>
        {duration(beatAge(w, readAt))} ago
      </span>
    ),
  },
  { id: "cpu", head: "CPU", title: "Of the machine", width: 108, cell: (w) => <Share name={`CPU of ${w.host}`} share={w.cpu} /> },
  { id: "memory", head: "Memory", title: "Of the machine", width: 108, cell: (w) => <Share name={`Memory of ${w.host}`} share={w.memory} /> },
  {
    id: "tasks",
    head: "Tasks of slots",
    title: "Tasks with the worker, those too that it has ahead, of the slots of all its handlers",
    width: "2fr",
    min: 170,
    cell: (w) => {
      const slots = slotsOf(w);
      return (
        <span className={css["stack"]}>
          <span>
            {count(w.tasks)} <span className={css["dim"]}>of {count(slots)}{w.urgent > 0 && ` + ${count(w.urgent)} for P0`}</span>
          </span>
          <Meter label={`Tasks of ${w.host}`} share={slots > 0 ? w.tasks / slots : 0} tone={w.tasks > slots ? "warn" : "plain"} text={`${count(w.tasks)} tasks, ${count(slots)} slots`} />
        </span>
      );
    },
  },
  {
    id: "handlers",
    head: "Handlers",
    width: "3fr",
    min: 140,
    cell: (w) => {
      const handlers = handlersOf(w);
      const text = handlers.map((h) => `${h.flow}/${h.stage} ${h.slots}`).join(", ");
      return (
        <span className={css["cut"]} title={text}>
          {handlers.length === 0 ? <span className={css["dim"]}>none</span> : `${count(handlers.length)}: ${text}`}
        </span>
      );
    },
  },
  { id: "labels", head: "Labels", width: "1fr", min: 90, cell: (w) => (w.labels.length > 0 ? <span className={css["cut"]} title={w.labels.join(", ")}>{w.labels.join(", ")}</span> : <span className={css["dim"]}>–</span>) },
  { id: "started", head: "Started", width: 92, align: "right", cell: (w) => <Time at={w.started_at} /> },
  {
    id: "acts",
    head: "Actions",
    width: 84,
    align: "right",
    cell: (w) => (
      <Button small disabled={denied !== undefined || w.state === "draining"} title={w.state === "draining" ? "It drains already" : denied} aria-label={`Drain worker ${w.host}/${w.pid}`} onClick={() => act(drainWorker(w.id, `${w.host}/${w.pid}`))}>
        Drain
      </Button>
    ),
  },
];

function Share({ name, share }: { name: string; share: number }) {
  return (
    <span className={css["stack"]}>
      <span>{Math.round(share * 100)} %</span>
      <Meter label={name} share={share} tone={share >= 0.9 ? "bad" : share >= 0.75 ? "warn" : "plain"} />
    </span>
  );
}
