import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Shell } from "../shell/Shell";
import { parseSearch, strings, stringifySearch } from "./search";

// Every screen is a file of its own that is loaded when it is first shown.

/** `why` opens the drawer of explanations: a run, `run/stage` or `run/stage/shard`. */
const root = createRootRoute({ component: Shell, validateSearch: strings("why") });

const at = <const P extends string>(path: P) => ({ getParentRoute: () => root, path });

const routeTree = root.addChildren([
  createRoute({ ...at("/"), validateSearch: strings("window"), component: lazyRouteComponent(() => import("../screens/overview/OverviewScreen")) }),
  createRoute({ ...at("/flows"), validateSearch: strings("q"), component: lazyRouteComponent(() => import("../screens/flows/FlowsScreen")) }),
  createRoute({ ...at("/flows/$flow"), validateSearch: strings("version", "stage"), component: lazyRouteComponent(() => import("../screens/flow/FlowScreen")) }),
  createRoute({ ...at("/flows/$flow/start"), validateSearch: strings("again"), component: lazyRouteComponent(() => import("../screens/start/StartScreen")) }),
  createRoute({ ...at("/runs"), validateSearch: strings("q"), component: lazyRouteComponent(() => import("../screens/runs/RunsScreen")) }),
  createRoute({
    ...at("/runs/$run"),
    // The Gantt chart has `order`, `axis`, `zoom`; the table `find`, `states`, `sort`; the logs `q`, `level`, `of`, `line`.
    validateSearch: strings("view", "stage", "focus", "tab", "order", "axis", "zoom", "find", "states", "sort", "q", "level", "of", "line"),
    component: lazyRouteComponent(() => import("../screens/run/RunScreen")),
  }),
  createRoute({ ...at("/runs/$run/compare"), validateSearch: strings("with"), component: lazyRouteComponent(() => import("../screens/compare/CompareScreen")) }),
  createRoute({
    ...at("/runs/$run/stages/$stage"),
    validateSearch: strings("tab", "color", "order", "shards", "state", "fingerprint", "worker", "attempt", "took", "q"),
    component: lazyRouteComponent(() => import("../screens/stage/StageScreen")),
  }),
  createRoute({
    ...at("/runs/$run/stages/$stage/shards/$shard"),
    validateSearch: strings("attempt", "tab", "q", "line", "level"),
    component: lazyRouteComponent(() => import("../screens/task/TaskScreen")),
  }),
  createRoute({ ...at("/dead-letters"), validateSearch: strings("flow", "stage", "fingerprint", "code", "run", "since"), component: lazyRouteComponent(() => import("../screens/dead/DeadScreen")) }),
  createRoute({ ...at("/replays"), validateSearch: strings("replay"), component: lazyRouteComponent(() => import("../screens/replays/ReplaysScreen")) }),
  createRoute({ ...at("/queues"), validateSearch: strings("q", "queue"), component: lazyRouteComponent(() => import("../screens/queues/QueuesScreen")) }),
  createRoute({ ...at("/pools"), validateSearch: strings("q"), component: lazyRouteComponent(() => import("../screens/pools/PoolsScreen")) }),
  createRoute({ ...at("/circuits"), validateSearch: strings("q"), component: lazyRouteComponent(() => import("../screens/circuits/CircuitsScreen")) }),
  createRoute({ ...at("/workers"), validateSearch: strings("q", "worker"), component: lazyRouteComponent(() => import("../screens/workers/WorkersScreen")) }),
  createRoute({ ...at("/settings"), component: lazyRouteComponent(() => import("../screens/settings/SettingsScreen")) }),
  createRoute({ ...at("/tokens"), component: lazyRouteComponent(() => import("../screens/tokens/TokensScreen")) }),
  createRoute({ ...at("/audit"), validateSearch: strings("actor", "kind", "target", "since"), component: lazyRouteComponent(() => import("../screens/audit/AuditScreen")) }),
  createRoute({ ...at("/webhooks"), validateSearch: strings("webhook"), component: lazyRouteComponent(() => import("../screens/webhooks/WebhooksScreen")) }),
]);

/** The page's router. Screens use `getRouteApi("/runs/$run")` for their params and search params. */
export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultNotFoundComponent: lazyRouteComponent(() => import("../shell/NotFound")),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
