import type { QueryClient } from "@tanstack/react-query";
import { flowQuery, meQuery, runQuery, serverQuery, usualQuery } from "../api/queries";
import { overviewQuery, windowOf } from "../screens/overview/query";
import { packedQuery } from "../screens/stage/usePacked";
import { explainQuery } from "../why/query";

/** The addresses of a run, of its stages and of their shards. */
const run = /^\/runs\/(?<run>[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?<below>\/stages\/(?<stage>[\w.-]+)(?<shard>\/.*)?|\/.*)?$/;

/**
 * Asks for what the screen at an address asks for first, while its code is on its way. Nobody waits for it here: the screen finds the
 * answer, or the refusal, when it asks.
 */
export function askAhead(cache: QueryClient, path: string, search: string): void {
  if (path === "/") void cache.prefetchQuery(overviewQuery(windowOf(new URLSearchParams(search).get("window") ?? undefined)));
  const at = run.exec(path)?.groups;
  if (at?.["run"]) void askRun(cache, at["run"], at["below"] === undefined || at["below"] === "/", at["shard"] === undefined ? at["stage"] : undefined);
}

async function askRun(cache: QueryClient, id: string, whole: boolean, stage: string | undefined): Promise<void> {
  if (whole) {
    void cache.prefetchQuery(explainQuery({ run: id }));
    void cache.prefetchQuery(usualQuery(id));
  }
  if (stage !== undefined) void cache.prefetchQuery(packedQuery(id, stage));
  await cache.prefetchQuery(runQuery(id));
  const detail = cache.getQueryData(runQuery(id).queryKey);
  if (detail) await cache.prefetchQuery(flowQuery(detail.run.flow, detail.run.version));
}

/** Asks for what the frame asks for, and for what the first screen does. */
export function askFirst(cache: QueryClient): void {
  void cache.prefetchQuery(meQuery);
  void cache.prefetchQuery(serverQuery);
  askAhead(cache, window.location.pathname, window.location.search);
}
