import type { Schemas } from "../../api/client";
import { ToneMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import css from "./Hold.module.css";

/** By whom, why and since when something is paused. */
export function Hold({ hold }: { hold: Schemas["Hold"] | undefined }) {
  if (!hold) return <span className={css["none"]}>–</span>;
  return (
    <span className={css["hold"]} title={hold.reason}>
      <span className={css["who"]}>
        <ToneMark tone="paused" size={14} /> {hold.reason || "paused, no reason given"}
      </span>
      <span className={css["sub"]}>
        {hold.actor}, <Time at={hold.held_at} ago />
      </span>
    </span>
  );
}
