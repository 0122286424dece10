import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { count, duration, percent, plural } from "../../ui/format";
import { ToneMark } from "../../ui/StateMark";
import css from "./Fleet.module.css";
import { Meter } from "../../ui/Meter";

/** Who leads and since when it was heard, and how much room the workers have. */
export function Fleet({ leader, workers }: { leader: Schemas["LeaderFigures"] | undefined; workers: Schemas["WorkerFigures"] | undefined }) {
  if (!leader && !workers) return <p className={css["note"]}>The fleet is shown to those who have the permission fleet:read.</p>;
  return (
    <div className={css["fleet"]}>
      {workers && <Workers w={workers} />}
      {leader && <Leader l={leader} />}
    </div>
  );
}

function Workers({ w }: { w: Schemas["WorkerFigures"] }) {
  return (
    <section aria-label="Workers">
      <div className={css["row"]}>
        <h3>Busiest handler</h3>
        <Link to="/pools" search={{ q: w.busiest }} className={css["number"]}>
          <b>{w.busiest === undefined ? "–" : percent(w.saturation, 1)}</b> of its slots
        </Link>
      </div>
      <Meter label="Slots that the busiest handler uses" share={w.saturation} tone={w.saturation > 0.8 ? "warn" : "plain"} tall />
      <p className={css["row"]}>
        <span className={css["holder"]}>{w.busiest ?? "no handler runs anything"}</span>
        <Link to="/pools" className={css["number"]}>
          {count(w.busy)} of {plural(w.slots, "slot")} used
        </Link>
      </p>
      <ul className={css["facts"]}>
        <li>
          <Link to="/workers">{plural(w.count, "worker")}</Link>
        </li>
        <li>
          <Link to="/workers" search={{ q: "draining" }}>
            {count(w.draining)} draining
          </Link>
        </li>
        <li data-bad={w.silent > 0 || undefined}>
          {w.silent > 0 && <ToneMark tone="failed" />}
          <Link to="/workers" search={{ q: "silent" }}>
            {count(w.silent)} silent
          </Link>
        </li>
      </ul>
      {w.count > 0 && <p className={css["note"]}>oldest heartbeat {duration(w.oldest_beat_s)} ago</p>}
    </section>
  );
}

function Leader({ l }: { l: Schemas["LeaderFigures"] }) {
  return (
    <section aria-label="Leader" className={css["leader"]}>
      <div className={css["row"]}>
        <h3>Leader</h3>
        <span className={css["state"]} data-bad={!l.leading || undefined}>
          <ToneMark tone={l.leading ? "succeeded" : "failed"} />
          {l.leading ? "leading" : "nobody leads"}
        </span>
      </div>
      {l.holder && <code className={css["holder"]}>{l.holder}</code>}
      <p className={css["note"]}>
        {l.epoch > 0 ? (
          <>
            epoch {count(l.epoch)} · {l.leading ? "heartbeat" : "last heartbeat"} {duration(l.beat_age_s)} ago
          </>
        ) : (
          "No engine has run on this database yet."
        )}
      </p>
      {!l.leading && <p className={css["loud"]}>Start an engine: <code>ax server</code>. Until then nothing is handed out.</p>}
    </section>
  );
}
