import { use } from "react";
import { useLiveStatus } from "../api/live/useLive";
import type { LiveState } from "../api/live/connection";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { useNow } from "../ui/now";
import { brief, ZoneContext } from "../ui/zone";
import css from "./Bar.module.css";

const says: Record<LiveState, string> = {
  live: "Changes are shown as they happen.",
  connecting: "The stream of changes is being opened.",
  stale: "The stream of changes broke. It is tried again by itself; until then the page asks every few seconds.",
  paused: "You have paused the page: what it shows stays as it is until you continue.",
  off: "This screen has no stream; it asks every few seconds.",
};

/** Whether what is shown is live, and the button that stops and continues that. */
export function LiveMark() {
  const { state, since, pause, resume } = useLiveStatus();
  const { zone } = use(ZoneContext);
  const now = useNow(state === "stale" || state === "paused");
  const time = brief(new Date(since), new Date(now || since), zone);
  const word = { live: "live", connecting: "connecting", off: "polling", paused: `paused since ${time}`, stale: `stale since ${time}` }[state];
  return (
    <div className={css["live"]} data-state={state} title={says[state]}>
      <span className={css["dot"]} aria-hidden />
      <span role="status">{word}</span>
      {state !== "off" && (
        <Button kind="quiet" small className={css["icon"]} aria-label={state === "paused" ? "Continue live" : "Pause live"} title={state === "paused" ? "Continue" : "Pause"} onClick={state === "paused" ? resume : pause}>
          <Icon name={state === "paused" ? "play" : "pause"} size={12} />
        </Button>
      )}
    </div>
  );
}
