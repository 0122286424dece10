import { queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { isList, isObject, parse, type Json } from "../../params/json";
import type { Start } from "./copyAs";
import { bodyText } from "./copyAs";

/** The params that a run was started with; secrets are masked. */
export const runParamsQuery = (run: string) =>
  queryOptions({
    queryKey: keys.run(run, "params-text"),
    queryFn: async ({ signal }) => parse(await answer(api.GET("/api/v1/runs/{run}/params", { params: { path: { run } }, parseAs: "text", signal }))),
    staleTime: Infinity,
  });

/** Params that runs were started with lately. */
export interface Recent {
  run: string;
  created_at: string;
  state: Schemas["RunState"];
  runs: number;
  params: Json;
}

/** What the flow's runs were started with lately, each once. */
export const recentQuery = (flow: string) =>
  queryOptions({
    queryKey: keys.flow(flow, "recent-params"),
    queryFn: async ({ signal }): Promise<Recent[]> => {
      const text = await answer(api.GET("/api/v1/flows/{flow}/recent-params", { params: { path: { flow }, query: { limit: 8 } }, parseAs: "text", signal }));
      const list = parse(text);
      // The document says what is in it; only the params are read with all their digits.
      const items = isObject(list) && isList(list["items"]) ? list["items"].filter(isObject) : [];
      return items.map((i) => ({ run: String(i["run"]), created_at: String(i["created_at"]), state: i["state"] as Schemas["RunState"], runs: Number(i["runs"]), params: i["params"] ?? null }));
    },
    retry: false,
  });

/** Asks the API to start a run, or with `dry_run` whether it would. */
export const startRun = (start: Start, dry_run: boolean, signal?: AbortSignal): Promise<Schemas["StartedRun"]> =>
  answer(
    api.POST("/api/v1/runs", {
      body: { flow: start.flow },
      // The body is written by hand, so that no number in it loses digits.
      bodySerializer: () => bodyText(start, { trigger: "page", ...(dry_run ? { dry_run } : {}) }),
      ...(signal ? { signal } : {}),
    }),
  );
