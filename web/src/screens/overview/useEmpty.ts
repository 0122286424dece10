import { useQuery } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { quiet } from "./rates";

/**
 * The flows that there are, where no run has ever been started; undefined where one has, or while nobody knows. It asks only if the
 * overview shows no sign of any run.
 */
export function useEmpty(overview: Schemas["Overview"] | undefined): { flows: readonly string[] } | undefined {
  const silent = overview !== undefined && quiet(overview.runs, overview.tasks) && !(overview.queues ?? []).some((q) => q.depth > 0);
  const first = useQuery({
    queryKey: keys.runList("any"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs", { params: { query: { limit: 1 } }, signal })),
    enabled: silent,
    refetchInterval: silent ? 5_000 : false,
  });
  const none = silent && first.data?.items.length === 0;
  const flows = useQuery({
    queryKey: keys.flow("any"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/flows", { signal })),
    enabled: none,
    refetchInterval: none ? 5_000 : false,
  });
  return none && flows.data ? { flows: flows.data.items.map((f) => f.name) } : undefined;
}
