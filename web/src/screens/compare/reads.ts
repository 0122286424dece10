import { queryOptions } from "@tanstack/react-query";
import { answer, api, Refusal, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";

/** The newest run of the same flow before this one that succeeded; null if there is none. */
export const previousQuery = (run: string) =>
  queryOptions({
    queryKey: keys.run(run, "previous"),
    queryFn: async ({ signal }): Promise<Schemas["Run"] | null> => {
      try {
        return await answer(api.GET("/api/v1/runs/{run}/previous", { params: { path: { run } }, signal }));
      } catch (error) {
        if (error instanceof Refusal && error.problem.code === "not_found") return null;
        throw error;
      }
    },
    staleTime: 60_000,
  });

/** Runs of a flow to choose from, the newest first. */
export const othersQuery = (flow: string) =>
  queryOptions({
    queryKey: keys.runList(`flow:${flow} compare`),
    queryFn: async ({ signal }) => (await answer(api.GET("/api/v1/runs", { params: { query: { q: `flow:${flow}`, limit: 50 } }, signal }))).items,
    staleTime: 30_000,
  });
