import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Schemas } from "../../api/client";
import { usePoll } from "../../api/live/useLive";
import { explainQuery } from "../../why/query";
import { stamp } from "./totals";

/** The explanation of a run: asked slowly while it runs, and at once when states or failures have changed. */
export function useExplained(detail: Schemas["RunDetail"] | undefined) {
  const cache = useQueryClient();
  const run = detail?.run.id ?? "";
  const over = detail?.run.finished_at !== undefined;
  const poll = usePoll(8_000, 8_000);
  const explained = useQuery({ ...explainQuery({ run }), enabled: detail !== undefined, refetchInterval: over ? false : poll });
  const at = detail && stamp(detail);
  useEffect(() => {
    if (at === undefined) return;
    // What changes in a row is asked for once.
    const timer = setTimeout(() => void cache.invalidateQueries({ queryKey: explainQuery({ run }).queryKey, exact: true }), 400);
    return () => clearTimeout(timer);
  }, [cache, run, at]);
  return explained;
}
