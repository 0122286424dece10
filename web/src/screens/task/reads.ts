import { queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";

/** One task with all its attempts. */
export const shardQuery = (run: string, stage: string, index: number) =>
  queryOptions({
    queryKey: keys.shard(run, stage, index),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/stages/{stage}/shards/{index}", { params: { path: { run, stage, index } }, signal })),
  });

/** What a task does now, undefined if no heartbeat has told of it. */
export const runningQuery = (run: string, stage: string, index: number) =>
  queryOptions({
    queryKey: keys.shard(run, stage, index, "progress"),
    queryFn: async ({ signal }): Promise<Schemas["Running"] | null> => {
      const list = await answer(api.GET("/api/v1/runs/{run}/progress", { params: { path: { run }, query: { stage, limit: 1000 } }, signal }));
      return list.items.find((r) => r.shard === index) ?? null;
    },
  });

/** What a shard of a stage returned; null where there is no output. */
export const outputQuery = (run: string, stage: string, shard: number) =>
  queryOptions({
    queryKey: keys.shard(run, stage, shard, "output"),
    queryFn: ({ signal }): Promise<unknown> => answer(api.GET("/api/v1/runs/{run}/stages/{stage}/output", { params: { path: { run, stage }, query: { shard } }, signal })),
  });

/** The journal's lines about a stage, the oldest first; of very long journals the first 5,000 lines are looked at. */
export const historyQuery = (run: string, stage: string) =>
  queryOptions({
    queryKey: keys.stage(run, stage, "journal"),
    queryFn: async ({ signal }) => {
      const out: Schemas["JournalLine"][] = [];
      let cursor: string | undefined;
      for (let page = 0; page < 5; page++) {
        const list: Schemas["JournalList"] = await answer(api.GET("/api/v1/runs/{run}/journal", { params: { path: { run }, query: { limit: 1000, ...(cursor === undefined ? {} : { cursor }) } }, signal }));
        out.push(...list.items.filter((l) => l.stage === undefined || l.stage === stage));
        cursor = list.next_cursor;
        if (cursor === undefined) break;
      }
      return out;
    },
  });
