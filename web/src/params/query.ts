import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "../api/client";
import { keys } from "../api/keys";
import { parse } from "./json";

/** The params schema of a flow, of its newest version unless said. It is read as text, so that no number in it loses digits. */
export const schemaQuery = (flow: string, version?: string) =>
  queryOptions({
    queryKey: keys.flow(flow, "params-schema", version ?? "newest"),
    queryFn: async ({ signal }) => parse(await answer(api.GET("/api/v1/flows/{flow}/params-schema", { params: { path: { flow }, query: version ? { version } : {} }, parseAs: "text", signal }))),
    staleTime: 60_000,
  });
