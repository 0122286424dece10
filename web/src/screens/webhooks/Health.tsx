import type { Schemas } from "../../api/client";
import { Time } from "../../ui/Time";
import { ToneMark } from "../../ui/StateMark";
import css from "./Webhooks.module.css";

/** Whether a webhook's receiver takes what is sent to it. */
export function Health({ hook }: { hook: Schemas["Webhook"] }) {
  if (hook.disabled_at) {
    return (
      <span className={css["health"]} title="Its receiver has answered 410 Gone. A test or a redelivery enables it again.">
        <ToneMark tone="cancelled" /> disabled <Time at={hook.disabled_at} />
      </span>
    );
  }
  if (hook.failing_since) {
    return (
      <span className={css["health"]} title="Nothing was taken since. Each delivery is tried again for a day.">
        <ToneMark tone="failed" /> failing <Time at={hook.failing_since} />
      </span>
    );
  }
  return (
    <span className={css["health"]}>
      <ToneMark tone="succeeded" /> well
    </span>
  );
}
