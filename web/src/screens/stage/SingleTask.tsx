import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";
import { buttonClass } from "../../ui/Button";
import { DataTable, type Column } from "../../ui/DataTable";
import { duration, shortId } from "../../ui/format";
import { Empty, Failure } from "../../ui/Notice";
import { Panel } from "../../ui/Page";
import { StateMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";

type Attempt = Schemas["Attempt"];

const columns: Column<Attempt>[] = [
  { id: "attempt", head: "Attempt", width: 80, align: "right", cell: (a) => a.attempt },
  { id: "outcome", head: "Outcome", width: 130, cell: (a) => <StateMark state={a.outcome} /> },
  { id: "started", head: "Started", width: 110, cell: (a) => <Time at={a.started_at} /> },
  { id: "waited", head: "Waited", width: 90, align: "right", cell: (a) => duration((Date.parse(a.started_at) - Date.parse(a.ready_at)) / 1000) },
  { id: "took", head: "Took", width: 90, align: "right", cell: (a) => duration((Date.parse(a.finished_at) - Date.parse(a.started_at)) / 1000) },
  { id: "worker", head: "Worker", width: 150, cell: (a) => (a.worker ? shortId(a.worker) : "by an operator") },
  { id: "generation", head: "Generation", width: 100, align: "right", cell: (a) => a.generation },
  { id: "error", head: "Error", width: "1fr", min: 160, cell: (a) => <span title={a.failure?.message}>{a.failure ? `${a.failure.code}: ${a.failure.message}` : ""}</span> },
];

/** An unsharded stage is one task: its attempts, and the way to its log. */
export function SingleTask({ run, status }: { run: string; status: Schemas["StageStatus"] }) {
  const poll = usePoll(5000, 5000);
  const task = useQuery({
    queryKey: keys.shard(run, status.name, 0),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/stages/{stage}/shards/{index}", { params: { path: { run, stage: status.name, index: 0 } }, signal })),
    refetchInterval: status.finished_at ? false : poll,
  });
  return (
    <Panel
      flush
      title="Task"
      aside={
        <>
          {task.data && <StateMark state={task.data.state} />}
          <Link className={buttonClass} data-small to="/runs/$run/stages/$stage/shards/$shard" params={{ run, stage: status.name, shard: "0" }}>
            Open task, log and output
          </Link>
        </>
      }
    >
      {task.isError ? (
        <Failure what="the task" error={task.error} retry={() => void task.refetch()} />
      ) : (
        <DataTable
          label="Attempts"
          rows={task.data?.attempts ?? []}
          columns={columns}
          rowKey={(a) => `${a.generation}/${a.attempt}/${a.delivery}`}
          loading={task.isPending}
          empty={<Empty title={task.data?.state === "in_flight" ? "The first attempt is running" : "No attempt has ended yet"}>{status.reason ?? "Why? above says what it waits for."}</Empty>}
        />
      )}
    </Panel>
  );
}
