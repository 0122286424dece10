import { useEffect, useState } from "react";
import type { Schemas } from "../../api/client";
import { count, duration, percent, rate } from "../../ui/format";
import { useNow } from "../../ui/now";
import { StateBar } from "../../ui/StateBar";
import { lettersOf, stageParts } from "../../ui/states";
import { Elapsed, Time } from "../../ui/Time";
import { paceOf, sampled, type Sample } from "./pace";
import css from "./Facts.module.css";

/** The figures of a stage at a glance: how far it is, how fast, how long it may still take, and what failed. */
export function Facts({ status, detail, failures, onFailures }: { status: Schemas["StageStatus"]; detail: Schemas["StageDetail"] | undefined; failures: Schemas["StageFailureList"] | undefined; onFailures: () => void }) {
  const live = status.state === "running" || status.state === "planning" || status.state === "cancelling";
  const now = useNow(live);
  const samples = useSamples(status);
  const pace = live ? paceOf(samples, now) : undefined;
  const left = status.ready + status.in_flight;
  const d = detail?.durations;
  const sharded = status.kind === "sharded";
  const attempts = failures?.items.reduce((n, g) => n + g.attempts, 0);
  const retries = attempts === undefined ? undefined : Math.max(0, attempts - (failures?.items.reduce((n, g) => n + g.dead, 0) ?? 0));
  return (
    <dl className={css["facts"]}>
      <div className={`${css["fact"]} ${css["wide"]}`}>
        <dt>{sharded ? "Shards" : "Task"}</dt>
        <dd>
          {status.total < 0 ? "not known yet" : `${count(status.succeeded)} of ${count(status.total)}`} <small>{status.total > 0 && `${percent(status.succeeded, status.total)} succeeded`}</small>
        </dd>
        <dd>
          <StateBar parts={stageParts(status)} tall label={`Shards of ${status.name}`} />
        </dd>
      </div>
      {live && sharded && (
        <>
          <Fact name="Rate now" value={pace === undefined ? "–" : rate(pace)} />
          <Fact name="Left" value={pace && left > 0 ? `≈ ${duration(left / pace)}` : "–"} note={left > 0 ? `${count(left)} to do` : ""} />
        </>
      )}
      <Fact name={status.finished_at ? "Took" : "Runs for"} value={<Elapsed from={status.ready_at} to={status.finished_at} />} note={status.ready_at && <>since <Time at={status.ready_at} /></>} />
      {sharded && <Fact name="p50 · p95 · p99" value={d && d.samples > 0 ? [d.p50_s, d.p95_s, d.p99_s].map((s) => (s === undefined ? "–" : duration(s))).join(" · ") : "–"} note={d?.max_s === undefined ? "" : `longest ${duration(d.max_s)}`} />}
      <Fact name="In flight" value={count(status.in_flight)} />
      <Fact name="Retries" value={retries === undefined ? "–" : `${count(retries)}${failures?.partial ? "+" : ""}`} />
      <Fact name="Dead letters" value={lettersOf(status) > 0 ? <button type="button" onClick={onFailures}>{count(lettersOf(status))}</button> : "0"} note={status.tolerated ? `${count(status.tolerated)} tolerated` : ""} />
    </dl>
  );
}

function Fact({ name, value, note }: { name: string; value: React.ReactNode; note?: React.ReactNode }) {
  return (
    <div className={css["fact"]}>
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd>
        <small>{note || "\u00a0"}</small>
      </dd>
    </div>
  );
}

/** The counts of finished shards as they come, to tell the rate from. */
function useSamples(status: Schemas["StageStatus"]): readonly Sample[] {
  const [samples, setSamples] = useState<Sample[]>([]);
  const done = status.succeeded + status.dead;
  useEffect(() => {
    const at = Date.now();
    // Told in a callback of the browser's: what is shown now is drawn first.
    const frame = requestAnimationFrame(() => setSamples((before) => sampled(before, { at, done })));
    return () => cancelAnimationFrame(frame);
  }, [done]);
  return samples;
}
