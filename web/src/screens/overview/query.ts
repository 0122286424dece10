import { queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";

/** How far back the charts go. */
export type Window = Schemas["Overview"]["window"];

/** The window that an address names; whatever it does not know is the last hour. */
export const windowOf = (text: string | undefined): Window => (text === "24h" ? "24h" : "1h");

/** The overview. Its answer is kept while the window changes, so that nothing jumps. */
export const overviewQuery = (window: Window) =>
  queryOptions({
    queryKey: keys.overview(window),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/overview", { params: { query: { window } }, signal })),
  });
