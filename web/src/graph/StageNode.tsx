import type { NodeProps } from "@xyflow/react";
import { memo, use, useSyncExternalStore } from "react";
import type { Schemas } from "../api/client";
import { count, duration, rate, short } from "../ui/format";
import { StateBar } from "../ui/StateBar";
import { StateMark } from "../ui/StateMark";
import { lettersOf, stageParts, toneOf } from "../ui/states";
import { Elapsed, Time } from "../ui/Time";
import { SpotlightContext } from "./context";
import type { Facts } from "./facts";
import { kindWords, nodeName } from "./nodeName";
import type { StageNodeData, StageNodeType } from "./nodes";
import css from "./StageNode.module.css";

type Parts = Pick<StageNodeData, "spec" | "status" | "facts">;

/** The box of a stage: one at any number of shards. */
export const StageNode = memo(function StageNode({ data }: NodeProps<StageNodeType>) {
  const { spec, status, facts } = data;
  const spotlight = use(SpotlightContext);
  const [zoom, lit, selected, stop] = useSyncExternalStore(spotlight.subscribe, () => spotlight.of(spec.name)).split(" ");
  return (
    <button
      type="button"
      className={css["node"]}
      data-stage={spec.name}
      data-tone={status ? toneOf(status.state) : "plain"}
      data-kind={spec.kind}
      data-child={spec.child === undefined ? undefined : true}
      data-teardown={spec.teardown_of === undefined ? undefined : true}
      data-conditional={spec.conditional || undefined}
      data-zoom={zoom}
      data-dim={lit === "dim" || undefined}
      data-held={facts?.held === undefined ? undefined : true}
      aria-pressed={selected === "selected"}
      aria-label={nodeName(spec, status, facts)}
      tabIndex={stop === "stop" ? 0 : -1}
    >
      {zoom === "far" ? <Far status={status} /> : <Near spec={spec} status={status} facts={facts} brief={zoom !== "near"} />}
    </button>
  );
});

function Far({ status }: { status: StageNodeData["status"] }) {
  return status && status.total > 1 ? <StateBar parts={stageParts(status)} tall /> : null;
}

const Near = memo(function Near({ spec, status, facts, brief }: Parts & { brief: boolean }) {
  return (
    <>
      <span className={css["top"]}>
        {status && <StateMark state={status.state} bare size={brief ? 22 : 15} />}
        <span className={css["name"]}>{spec.name}</span>
        {!brief && <Kind spec={spec} />}
      </span>
      {brief ? (
        spec.kind === "sharded" && status && <StateBar parts={stageParts(status)} tall />
      ) : spec.kind === "sharded" ? (
        <Sharded status={status} facts={facts} spec={spec} />
      ) : (
        <span className={css["line"]}>
          <Single status={status} facts={facts} spec={spec} />
        </span>
      )}
    </>
  );
});

function Sharded({ status, facts, spec }: Parts) {
  if (!status) return <span className={css["line"]}>{spec.aligned_to === undefined ? "many shards" : `shard by shard after ${spec.aligned_to}`}</span>;
  const known = status.total >= 0;
  return (
    <>
      <StateBar parts={stageParts(status)} />
      <span className={css["line"]}>
        <span className={css["numbers"]}>{known ? `${count(status.succeeded)} / ${count(status.total)}` : status.state === "planning" ? "planning its shards" : "shards not known yet"}</span>
        {lettersOf(status) > 0 && <span className={css["bad"]}>{short(lettersOf(status))} dead</span>}
        {facts?.rate !== undefined && facts.rate > 0 && <span className={css["numbers"]}>{rate(facts.rate)}</span>}
      </span>
      <span className={css["line"]}>
        <Warning facts={facts} />
        {facts?.p50 !== undefined && (
          <span className={css["quiet"]}>
            p50 {duration(facts.p50)}
            {facts.p95 !== undefined && ` · p95 ${duration(facts.p95)}`}
          </span>
        )}
      </span>
    </>
  );
}

function Single({ spec, status, facts }: Parts) {
  if (!status) return <>{kindWords(spec).join(", ")}</>;
  const word = status.state === "upstream_failed" ? "upstream failed" : status.state;
  const warned = facts?.held !== undefined || (facts?.retrying ?? 0) > 0;
  return (
    <>
      {warned ? <Warning facts={facts} /> : <span className={css["word"]}>{status.state === "running" && status.in_flight === 0 ? (status.ready > 0 ? "queued" : status.parked > 0 && spec.child ? "child run" : word) : word}</span>}
      {status.ready_at && (status.state === "running" || status.state === "succeeded" || status.state === "failed" || status.state === "cancelling") && (
        <span className={css["numbers"]}>
          <Elapsed from={status.ready_at} to={status.finished_at} />
        </span>
      )}
    </>
  );
}

/** Why it does not go on: what holds it, or when the next attempt is due. */
function Warning({ facts }: { facts: Facts | undefined }) {
  if (facts?.held !== undefined) return <span className={css["held"]} title={facts.why}>{facts.held}</span>;
  if (!facts?.retrying) return null;
  return (
    <span className={css["retrying"]} title={facts.why}>
      {facts.retrying > 1 && `${short(facts.retrying)} `}backing off{facts.due !== undefined && <>, <Time at={facts.due} ago /></>}
    </span>
  );
}

function Kind({ spec }: { spec: Schemas["GraphStage"] }) {
  const words = kindWords(spec).filter((w) => w !== "single" && w !== "sharded");
  if (words.length === 0) return null;
  return (
    <span className={css["kind"]} title={words.join(", ")}>
      {spec.child !== undefined ? "sub-flow" : spec.teardown_of !== undefined ? "teardown" : "if"}
    </span>
  );
}
