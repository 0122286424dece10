import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useState } from "react";
import { Refusal } from "../api/client";
import { Connection } from "../api/live/connection";
import { LiveContext } from "../api/live/context";
import { ZoneProvider } from "../shell/ZoneProvider";
import { router } from "./routes";

/** Refusals that another try would not change are not tried again; the rest is, twice. */
const retry = (failures: number, error: Error): boolean => failures < 2 && !(error instanceof Refusal && error.problem.status >= 400 && error.problem.status < 500);

/** The page with all that its parts share: the cache of answers, the stream, the zone, and the router. */
export function App() {
  const [cache] = useState(() => new QueryClient({ defaultOptions: { queries: { retry, staleTime: 2_000, refetchOnWindowFocus: true }, mutations: { retry: false } } }));
  const [live] = useState(() => new Connection());
  return (
    <QueryClientProvider client={cache}>
      <LiveContext value={live}>
        <ZoneProvider>
          <RouterProvider router={router} />
        </ZoneProvider>
      </LiveContext>
    </QueryClientProvider>
  );
}
