import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useMemo } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";

/** What the screen reads of a stage besides its shards. */
export interface StageReads {
  detail: UseQueryResult<Schemas["StageDetail"]>;
  failures: UseQueryResult<Schemas["StageFailureList"]>;
  /** How long what runs has run, in ms, by index; of tasks that have run for 2 s and longer. */
  ages: ReadonlyMap<number, number>;
}

/** Reads a stage's durations, failures and what runs. While it runs the first two are read every 5 s, and what runs every 2 s, as heartbeats come. */
export function useStageReads(run: string, status: Schemas["StageStatus"]): StageReads {
  const stage = status.name;
  const ended = status.finished_at !== undefined && status.in_flight === 0;
  const [slow, fast] = [usePoll(5000, 5000), usePoll(5000, 2000)];
  const path = { run, stage };
  // A stage that ends, fails or is rerun has something new to tell at once.
  const stamp = `${status.generation}/${status.state}/${status.dead}`;
  const detail = useQuery({
    queryKey: keys.stage(run, stage, "detail", stamp),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/stages/{stage}", { params: { path }, signal })),
    refetchInterval: ended ? false : slow,
    placeholderData: (before) => before,
  });
  const failures = useQuery({
    queryKey: keys.stage(run, stage, "failures", stamp),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/stages/{stage}/failures", { params: { path }, signal })),
    refetchInterval: ended ? false : slow,
    placeholderData: (before) => before,
  });
  const running = useQuery({
    queryKey: keys.run(run, "progress", stage),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/progress", { params: { path: { run }, query: { stage, limit: 1000 } }, signal })),
    enabled: !ended && status.in_flight > 0,
    refetchInterval: fast,
  });
  const [items, at] = [running.data?.items, running.dataUpdatedAt];
  const flies = status.in_flight > 0;
  const ages = useMemo(() => new Map(flies ? (items ?? []).map((r) => [r.shard, Math.max(0, at - Date.parse(r.started_at))] as const) : []), [items, at, flies]);
  return { detail, failures, ages };
}
