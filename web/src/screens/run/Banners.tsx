import { act } from "../../acts/host";
import { holdFlow, holdQueue, runAct } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import type { Schemas } from "../../api/client";
import { Button } from "../../ui/Button";
import { duration } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Time } from "../../ui/Time";
import { WhyLink } from "../../why/WhyLink";
import css from "./Banners.module.css";

/** What keeps the run from going on, or should not be as it is, each with what helps. */
export function Banners({ detail, flow }: { detail: Schemas["RunDetail"]; flow: Schemas["Flow"] | undefined }) {
  const { run, holds } = detail;
  if (run.finished_at !== undefined || (run.stuck === undefined && holds.length === 0 && !run.late)) return null;
  return (
    <div className={css["banners"]}>
      {run.stuck !== undefined && (
        <Banner kind="bad" action={<WhyLink run={run.id}>Why?</WhyLink>}>
          The run is stuck: the engine cannot decide it (<code>{run.stuck}</code>). The engine’s log says more; cancel it by force to end it.
        </Banner>
      )}
      {holds.map((h) => <HoldBanner key={`${h.kind} ${h.name}`} hold={h} run={run.id} />)}
      {run.late && (
        <Banner kind="warn">
          The run is late{flow?.late_after_s !== undefined && <>: it has taken longer than {duration(flow.late_after_s)}</>}
          {run.late_at !== undefined && (
            <>
              , since <Time at={run.late_at} />
            </>
          )}
          .
        </Banner>
      )}
    </div>
  );
}

function HoldBanner({ hold: h, run }: { hold: Schemas["Hold"]; run: string }) {
  const may = useMay();
  const refusal = may(h.kind === "queue" ? "fleet:operate" : h.kind === "flow" ? "flows:operate" : "runs:operate");
  const resume = () => act(h.kind === "queue" ? holdQueue(h.name, "resume") : h.kind === "flow" ? holdFlow(h.name, "resume") : runAct(run, "resume"));
  const what = h.kind === "run" ? "The run" : `${h.kind === "queue" ? "Queue" : "Flow"} ${h.name}`;
  return (
    <Banner
      kind="hold"
      action={
        <Button small aria-disabled={refusal !== undefined} title={refusal} onClick={() => refusal === undefined && resume()}>
          Resume {h.kind === "run" ? "the run" : `${h.kind} ${h.name}`}
        </Button>
      }
    >
      {what} is paused by {h.actor} since <Time at={h.held_at} />
      {h.reason ? `: ${h.reason}` : "."}
    </Banner>
  );
}

function Banner({ kind, action, children }: { kind: "bad" | "warn" | "hold"; action?: React.ReactNode; children: React.ReactNode }) {
  return (
    <div className={css["banner"]} data-kind={kind} role="status">
      <Icon name={kind === "hold" ? "pause" : "warn"} />
      <span className={css["text"]}>{children}</span>
      {action}
    </div>
  );
}
