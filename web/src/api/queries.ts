import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import { keys } from "./keys";

/** Who the credential is and what it may do. It changes with a log-in only. */
export const meQuery = queryOptions({
  queryKey: keys.me,
  queryFn: ({ signal }) => answer(api.GET("/api/v1/me", { signal })),
  staleTime: 5 * 60_000,
});

/** The server's version, its way of logging in, and the leader. */
export const serverQuery = queryOptions({
  queryKey: keys.server,
  queryFn: ({ signal }) => answer(api.GET("/api/v1/server", { signal })),
  staleTime: 30_000,
});

/** A run with its stages' states and counts; the live stream keeps it up to date while somebody uses `useLiveRun`. */
export const runQuery = (run: string) =>
  queryOptions({
    queryKey: keys.run(run),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}", { params: { path: { run } }, signal })),
  });

/** A flow with its graph, by default of its newest version. A version never changes, so it is kept. */
export const flowQuery = (flow: string, version?: string) =>
  queryOptions({
    queryKey: keys.flow(flow, "version", version ?? "newest"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/flows/{flow}", { params: { path: { flow }, query: version ? { version } : {} }, signal })),
    staleTime: version ? Infinity : 30_000,
  });

/** What runs of this run's flow usually take, by stage, and when this one may end. */
export const usualQuery = (run: string) =>
  queryOptions({
    queryKey: keys.run(run, "usual"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/usual", { params: { path: { run } }, signal })),
    staleTime: 30_000,
  });

/** When each stage of a run waited, was queued, ran and backed off. */
export const timelineQuery = (run: string) =>
  queryOptions({
    queryKey: keys.run(run, "timeline"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/timeline", { params: { path: { run } }, signal })),
  });

/** The queues with their settings and figures, by name. */
export const queuesQuery = queryOptions({
  queryKey: keys.fleet("queues"),
  queryFn: ({ signal }) => answer(api.GET("/api/v1/queues", { signal })),
});

/** The workers as their newest heartbeats tell, the oldest first. */
export const workersQuery = queryOptions({
  queryKey: keys.fleet("workers"),
  queryFn: ({ signal }) => answer(api.GET("/api/v1/workers", { signal })),
});

/** How long the runs of each flow usually take. */
export const flowUsualQuery = queryOptions({
  queryKey: [...keys.flows, "usual"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/usual", { signal })),
  staleTime: 60_000,
});

/** The flows by name, the first 1,000: for lists to choose from. */
export const flowNamesQuery = queryOptions({
  queryKey: [...keys.flows, "names"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/flows", { params: { query: { limit: 1000 } }, signal })),
  staleTime: 60_000,
});

/** A stage with its counts, times and durations. */
export const stageQuery = (run: string, stage: string) =>
  queryOptions({
    queryKey: keys.stage(run, stage, "detail"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/stages/{stage}", { params: { path: { run, stage } }, signal })),
    staleTime: 5_000,
  });

/** The params that a run was started with, secrets redacted. */
export const runParamsQuery = (run: string) =>
  queryOptions({
    queryKey: keys.run(run, "params"),
    queryFn: ({ signal }): Promise<unknown> => answer(api.GET("/api/v1/runs/{run}/params", { params: { path: { run } }, signal })),
    staleTime: Infinity,
  });
