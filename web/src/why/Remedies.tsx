import { Link } from "@tanstack/react-router";
import { act } from "../acts/host";
import { holdFlow, holdQueue, moveCircuit, runAct, stageAct } from "../acts/requests";
import { useMay } from "../acts/useMay";
import type { Schemas } from "../api/client";
import { Button, buttonClass } from "../ui/Button";
import { plural } from "../ui/format";
import type { Remedy } from "./remedies";
import css from "./Why.module.css";

/** Buttons for what can be done, at most `most`, the first one the most likely. Each act asks what it would do before it does it. */
export function Remedies({ list, most = 4, small = false }: { list: readonly Remedy[]; most?: number; small?: boolean }) {
  if (list.length === 0) return null;
  return (
    <div className={css["remedies"]}>
      {list.slice(0, most).map((r, i) => (
        <One key={JSON.stringify(r)} remedy={r} primary={i === 0 && !small} small={small} />
      ))}
    </div>
  );
}

function One({ remedy: r, primary, small }: { remedy: Remedy; primary: boolean; small: boolean }) {
  const kind = primary ? "primary" : "plain";
  switch (r.kind) {
    case "resume-run":
      return <Verb kind={kind} small={small} needs="runs:operate" name="Resume the run" onClick={() => act(runAct(r.run, "resume"))} />;
    case "resume-queue":
      return <Verb kind={kind} small={small} needs="fleet:operate" name={`Resume queue ${r.queue}`} onClick={() => act(holdQueue(r.queue, "resume"))} />;
    case "resume-flow":
      return <Verb kind={kind} small={small} needs="flows:operate" name={`Resume flow ${r.flow}`} onClick={() => act(holdFlow(r.flow, "resume"))} />;
    case "close-circuit":
      return <Verb kind={kind} small={small} needs="fleet:operate" name={`Close circuit ${r.circuit.name}`} onClick={() => act(moveCircuit(r.circuit.kind, r.circuit.name, "close"))} />;
    case "retry":
      return <Verb kind={kind} small={small} needs="runs:operate" name={r.shards === undefined ? `Retry ${plural(r.count, "dead task")} of ${r.stage}` : "Retry this shard"} onClick={() => act(stageAct(r.run, r.stage, "retry", r.shards))} />;
    case "cancel":
      return <Verb kind="danger" small={small} needs="runs:operate" name="Cancel the run" onClick={() => act(runAct(r.run, "cancel"))} />;
    case "queue":
      return (
        <Link className={buttonClass} data-kind={kind} data-small={small || undefined} to="/queues" search={{ queue: r.queue }}>
          Queue {r.queue}
        </Link>
      );
    case "workers":
      return (
        <Link className={buttonClass} data-kind={kind} data-small={small || undefined} to="/workers">
          Workers and their labels
        </Link>
      );
    case "pools":
      return (
        <Link className={buttonClass} data-kind={kind} data-small={small || undefined} to="/pools">
          Pools
        </Link>
      );
  }
}

function Verb({ kind, small, needs, name, onClick }: { kind: "primary" | "plain" | "danger"; small: boolean; needs: Schemas["Permission"]; name: string; onClick: () => void }) {
  const refusal = useMay()(needs);
  return (
    <Button kind={kind} small={small} aria-disabled={refusal !== undefined} title={refusal} onClick={() => refusal === undefined && onClick()}>
      {name}
    </Button>
  );
}
