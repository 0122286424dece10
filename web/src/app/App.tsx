import { QueryClientProvider, type QueryClient } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Connection } from "../api/live/connection";
import { LiveContext } from "../api/live/context";
import { ZoneProvider } from "../shell/ZoneProvider";
import { askAhead } from "./ahead";
import { router } from "./routes";

/** The page with all that its parts share: the cache of answers, the stream, the zone, and the router. */
export function App({ cache }: { cache: QueryClient }) {
  useEffect(() => router.subscribe("onBeforeLoad", ({ toLocation, pathChanged }) => pathChanged && askAhead(cache, toLocation.pathname, toLocation.searchStr)), [cache]);
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
