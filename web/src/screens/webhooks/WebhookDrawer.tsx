import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";
import { Button } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { DataTable, type Column } from "../../ui/DataTable";
import { Drawer } from "../../ui/Drawer";
import { shortId } from "../../ui/format";
import { KeyValues } from "../../ui/KeyValues";
import { Empty, Failure } from "../../ui/Notice";
import { ToneMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/toast";
import { DeleteDialog } from "./DeleteDialog";
import { Health } from "./Health";
import css from "./Webhooks.module.css";

type Delivery = Schemas["Delivery"];

/** A webhook with its deliveries; the list behind it stays usable. */
export function WebhookDrawer({ hook, onClose }: { hook: Schemas["Webhook"]; onClose: () => void }) {
  const cache = useQueryClient();
  const path = { webhook: hook.id };
  const [deleting, setDeleting] = useState(false);
  const poll = usePoll(5_000, 5_000);
  const deliveries = useInfiniteQuery({
    queryKey: keys.admin("webhooks", hook.id, "deliveries"),
    queryFn: ({ signal, pageParam }) => answer(api.GET("/api/v1/webhooks/{webhook}/deliveries", { params: { path, query: { limit: 100, ...(pageParam && { cursor: pageParam }) } }, signal })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    // Who has gone back several pages reads; who looks at the newest waits for what comes.
    refetchInterval: (q) => ((q.state.data?.pages.length ?? 1) > 1 ? false : poll),
  });
  const sent = (what: string) => ({
    onSuccess: () => {
      void cache.invalidateQueries({ queryKey: keys.admin("webhooks") });
      toast({ title: `${what} is on its way`, text: `To ${hook.name}; see the deliveries.` });
    },
    onError: (error: Error) => toast({ kind: "bad", title: `${what} was not sent`, text: error.message }),
  });
  const test = useMutation({ mutationFn: () => answer(api.POST("/api/v1/webhooks/{webhook}/test", { params: { path } })), ...sent("A ping") });
  const redeliver = useMutation({
    mutationFn: (delivery: string) => answer(api.POST("/api/v1/webhooks/{webhook}/deliveries/{delivery}/redeliver", { params: { path: { ...path, delivery } } })),
    ...sent("The delivery"),
  });
  const { mutate } = redeliver;
  const rows = useMemo(() => deliveries.data?.pages.flatMap((p) => p.items) ?? [], [deliveries.data]);
  const columns = useMemo(() => columnsOf((d) => mutate(d.id)), [mutate]);
  return (
    <Drawer
      title={hook.name}
      modal={false}
      width={720}
      onClose={onClose}
      actions={
        <>
          <Button small disabled={test.isPending} onClick={() => test.mutate()} title="Sends a ping now, and enables it if it is disabled">
            Send a test
          </Button>
          <Button small kind="danger" onClick={() => setDeleting(true)}>
            Delete
          </Button>
        </>
      }
    >
      {hook.disabled_at && (
        <p className={css["disabled"]}>
          <strong>Disabled.</strong> Its receiver answered 410 Gone, which means that it wants nothing more. A test or a redelivery enables it again.
        </p>
      )}
      <KeyValues
        narrow
        items={[
          { name: "State", value: <Health hook={hook} /> },
          {
            name: "URL",
            value: (
              <>
                {hook.url} <Copy text={hook.url} what="URL" />
              </>
            ),
          },
          { name: "Events", value: hook.events.join(", ") },
          { name: "Flows", value: hook.flows?.length ? hook.flows.join(", ") : "all" },
          {
            name: "Made",
            value: (
              <>
                <Time at={hook.created_at} /> by {hook.created_by}
              </>
            ),
          },
        ]}
      />
      <h3>Deliveries</h3>
      {deliveries.isError && rows.length === 0 ? (
        <Failure what="the deliveries" error={deliveries.error} retry={() => void deliveries.refetch()} />
      ) : (
        <div className={css["deliveries"]}>
          <DataTable
            label="Deliveries"
            fill
            rows={rows}
            columns={columns}
            rowKey={idOf}
            loading={deliveries.isPending || deliveries.isFetchingNextPage}
            more={deliveries.hasNextPage && !deliveries.isFetching ? () => void deliveries.fetchNextPage() : undefined}
            empty={<Empty title="Nothing was delivered yet">Send a test to see whether the receiver takes it.</Empty>}
          />
        </div>
      )}
      {deleting && <DeleteDialog hook={hook} onClose={() => setDeleting(false)} onDeleted={onClose} />}
    </Drawer>
  );
}

const idOf = (d: Delivery): string => d.id;
const tone = { delivered: "succeeded", failed: "failed", pending: "retrying" } as const;

function columnsOf(redeliver: (d: Delivery) => void): Column<Delivery>[] {
  return [
    {
      id: "state",
      head: "State",
      width: 110,
      cell: (d) => (
        <span className={css["health"]}>
          <ToneMark tone={tone[d.state]} /> {d.state}
        </span>
      ),
    },
    { id: "event", head: "Event", width: 120, cell: (d) => d.event },
    { id: "run", head: "Run", width: 128, cell: (d) => d.run && <Link to="/runs/$run" params={{ run: d.run }}>{shortId(d.run)}</Link> },
    { id: "answer", head: "Answer", width: "1fr", min: 90, cell: (d) => <span title={d.error}>{[d.status, d.error].filter(Boolean).join(" ") || "–"}</span> },
    { id: "tries", head: "Tries", width: 56, align: "right", cell: (d) => d.attempts },
    { id: "when", head: "When", width: 100, cell: (d) => (d.state === "pending" && d.next_at ? <Time at={d.next_at} ago /> : <Time at={d.delivered_at ?? d.created_at} />) },
    {
      id: "again",
      head: <span className={css["hidden"]}>Verbs</span>,
      width: 80,
      align: "right",
      cell: (d) => (
        <Button small kind="quiet" onClick={() => redeliver(d)} aria-label={`Deliver ${d.event} again`}>
          Again
        </Button>
      ),
    },
  ];
}
