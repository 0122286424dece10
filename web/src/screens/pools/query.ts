import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { keys } from "../../api/keys";

/** The workers' slots by handler. */
export const poolsQuery = queryOptions({
  queryKey: keys.fleet("pools"),
  queryFn: ({ signal }) => answer(api.GET("/api/v1/pools", { signal })),
});
