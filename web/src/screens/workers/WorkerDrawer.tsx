import { Link } from "@tanstack/react-router";
import { act } from "../../acts/host";
import { drainWorker } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import type { Schemas } from "../../api/client";
import { Button } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { Drawer } from "../../ui/Drawer";
import { count, duration, shortId } from "../../ui/format";
import { KeyValues } from "../../ui/KeyValues";
import { Empty } from "../../ui/Notice";
import { ToneMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import { beatAge, conditionOf, handlersOf, slotsOf, toneOfCondition } from "./figures";
import { RunningOn } from "./RunningOn";
import css from "./WorkerDrawer.module.css";

/** A worker: how it is, what runs on it, and what it can run. */
export function WorkerDrawer({ id, worker, readAt, onClose }: { id: string; worker: Schemas["Worker"] | undefined; readAt: number; onClose: () => void }) {
  const may = useMay();
  const denied = may("fleet:operate");
  const unseen = may("runs:read");
  if (!worker) {
    return (
      <Drawer onClose={onClose} modal={false} title={`Worker ${shortId(id)}`}>
        <Empty title="This worker is not there any more">It ended, or it was found dead; its unfinished work was handed to others. A process that starts again is another worker, with another id.</Empty>
      </Drawer>
    );
  }
  const name = `${worker.host}/${worker.pid}`;
  const condition = conditionOf(worker, readAt);
  const handlers = handlersOf(worker);
  return (
    <Drawer
      onClose={onClose}
      modal={false}
      title={`Worker ${name}`}
      actions={
        <Button small disabled={denied !== undefined || worker.state === "draining"} title={worker.state === "draining" ? "It drains already" : denied} onClick={() => act(drainWorker(worker.id, name))}>
          Drain
        </Button>
      }
    >
      <div className={css["drawer"]}>
        {condition === "silent" && (
          <p className={css["loud"]} role="alert">
            <ToneMark tone="failed" /> It has not been heard of for {duration(beatAge(worker, readAt))}. The leader takes it for dead and hands its work to others; nothing has to be done for that. See whether its process still runs.
          </p>
        )}
        <KeyValues
          items={[
            {
              name: "State",
              value: (
                <span className={css["mark"]}>
                  <ToneMark tone={toneOfCondition[condition]} /> {condition}
                </span>
              ),
            },
            { name: "Heartbeat", value: `${duration(beatAge(worker, readAt))} ago` },
            { name: "Started", value: <Time at={worker.started_at} ago /> },
            { name: "CPU", value: `${Math.round(worker.cpu * 100)} % of the machine` },
            { name: "Memory", value: `${Math.round(worker.memory * 100)} % of the machine` },
            { name: "Tasks", value: `${count(worker.tasks)} in ${count(worker.flights)} hand-outs` },
            { name: "Slots", value: `${count(slotsOf(worker))}${worker.urgent > 0 ? `, and ${count(worker.urgent)} kept for P0` : ""}` },
            { name: "Labels", value: worker.labels.join(", ") || "none" },
            {
              name: "Id",
              value: (
                <span className={css["mark"]}>
                  <code>{shortId(worker.id)}</code>
                  <Copy text={worker.id} what="the worker’s id" />
                </span>
              ),
            },
          ]}
        />
        <section className={css["part"]} aria-label="What runs on it now">
          <h3>Runs now</h3>
          {unseen ? <p className={css["note"]}>{unseen}</p> : <RunningOn worker={worker.id} />}
        </section>
        <section className={css["part"]} aria-label="Handlers">
          <h3>Handlers</h3>
          {handlers.length === 0 ? (
            <p className={css["note"]}>It has none, so it gets no work.</p>
          ) : (
            <table className={css["table"]}>
              <thead>
                <tr>
                  <th scope="col">Flow / stage</th>
                  <th scope="col">Version</th>
                  <th scope="col">Slots</th>
                </tr>
              </thead>
              <tbody>
                {handlers.map((h) => (
                  <tr key={`${h.flow}/${h.stage}@${h.version}`}>
                    <td>
                      <Link to="/flows/$flow" params={{ flow: h.flow }} search={{ stage: h.stage }}>
                        {h.flow} / {h.stage}
                      </Link>
                    </td>
                    <td>
                      <code title={h.version}>{h.version.slice(0, 8)}</code>
                    </td>
                    <td>
                      <Link to="/pools" search={{ q: `${h.flow}/${h.stage}` }}>
                        {count(h.slots)}
                      </Link>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </section>
      </div>
    </Drawer>
  );
}
