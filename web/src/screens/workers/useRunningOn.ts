import { useQueries, useQuery } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";

type Running = Schemas["Running"];

/** The newest open runs that are looked at for what runs on a worker. */
export const lookedAt = 20;

/** A task that runs on a worker. */
export interface OnWorker extends Running {
  run: string;
  flow: string;
}

/** What runs on a worker, of the newest open runs, the longest running first. The API tells it by run, so each of them is asked. */
export function useRunningOn(worker: string): { tasks: OnWorker[]; pending: boolean; error: Error | null; all: boolean } {
  const refetchInterval = usePoll(4_000, 4_000);
  const runs = useQuery({
    queryKey: keys.runList("open for workers"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs", { params: { query: { q: "state:open", limit: lookedAt } }, signal })),
    refetchInterval,
  });
  const open = runs.data?.items ?? [];
  const running = useQueries({
    queries: open.map((run) => ({
      queryKey: keys.run(run.id, "running", "all"),
      queryFn: ({ signal }: { signal: AbortSignal }) => answer(api.GET("/api/v1/runs/{run}/progress", { params: { path: { run: run.id }, query: { limit: 200 } }, signal })),
      refetchInterval,
    })),
  });
  const tasks = running
    .flatMap((query, i) => {
      const run = open[i];
      return run ? (query.data?.items ?? []).filter((t) => t.worker === worker).map((t) => ({ ...t, run: run.id, flow: run.flow })) : [];
    })
    .sort((a, b) => a.started_at.localeCompare(b.started_at));
  return { tasks, pending: runs.isPending || running.some((q) => q.isPending), error: runs.error ?? running.find((q) => q.error)?.error ?? null, all: runs.data !== undefined && runs.data.next_cursor === undefined };
}
