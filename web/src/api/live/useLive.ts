import { useQueryClient } from "@tanstack/react-query";
import { use, useEffect, useEffectEvent, useSyncExternalStore } from "react";
import type { Schemas } from "../client";
import { keys } from "../keys";
import type { LiveState } from "./connection";
import { LiveContext } from "./context";
import { merge, outgrows } from "./merge";

/** How the stream is, since when (in ms), and how to stop and continue it. */
export function useLiveStatus(): { state: LiveState; since: number; pause: () => void; resume: () => void } {
  const live = use(LiveContext);
  const state = useSyncExternalStore(
    (changed) => live.watch(changed),
    () => live.state,
  );
  return { state, since: live.since, pause: () => live.pause(), resume: () => live.resume() };
}

/**
 * The interval, in ms, at which a query should ask by itself: `idle` while the stream is live (for what the stream does not tell; `false`
 * is never), `fallback` while it is not, and never while the reader has paused the page.
 */
export function usePoll(fallback = 5_000, idle: number | false = false): number | false {
  const { state } = useLiveStatus();
  if (state === "paused") return false;
  return state === "live" ? idle : fallback;
}

/** Keeps `runQuery(run)` up to date from the stream while the component is mounted. */
export function useLiveRun(run: string): void {
  const live = use(LiveContext);
  const cache = useQueryClient();
  useEffect(
    () =>
      live.listen({ run }, ({ event, data }) => {
        if (event !== "snapshot" && event !== "delta") return;
        const frame: Schemas["LiveRun"] = JSON.parse(data);
        if (frame.id !== run) return;
        const known = cache.getQueryData<Schemas["RunDetail"]>(keys.run(run));
        if (!known) return;
        if (outgrows(known, frame)) void cache.invalidateQueries({ queryKey: keys.run(run), exact: true });
        else cache.setQueryData(keys.run(run), merge(known, frame));
      }),
    [live, cache, run],
  );
}

/**
 * Calls `onRun` with each run that was created or changed, of one flow or of all, and `onLost` when some were missed and the list has to
 * be read anew.
 */
export function useLiveRuns(onRun: (run: Schemas["Run"]) => void, onLost: () => void, flow?: string): void {
  const live = use(LiveContext);
  const hearRun = useEffectEvent(onRun);
  const hearLost = useEffectEvent(onLost);
  useEffect(
    () =>
      live.listen(flow === undefined ? {} : { flow }, ({ event, data }) => {
        if (event === "run") {
          const run: Schemas["Run"] = JSON.parse(data);
          if (flow === undefined || run.flow === flow) hearRun(run);
        } else if (event === "lost") hearLost();
      }),
    [live, flow],
  );
}
