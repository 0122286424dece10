import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { ScreenError } from "../shell/ScreenError";
import { Shell } from "../shell/Shell";
import { parseSearch, strings, stringifySearch } from "./search";

// Every screen is a file of its own that is loaded when it is first shown.

/** `why` opens the drawer of explanations: a run, `run/stage` or `run/stage/shard`. */
const root = createRootRoute({ component: Shell, validateSearch: strings("why") });

/**
 * A screen that is loaded when it is first shown. What `load` gives is not looked at: the types of screens depend on the router's, and the
 * router's must not depend on theirs, or all of them become `any`.
 */
const screen = (load: () => Promise<unknown>) => lazyRouteComponent(load as () => Promise<{ default: () => React.ReactNode }>);

const at = <const P extends string>(path: P) => ({ getParentRoute: () => root, path });

// They stand in a list of their own: within the call below each would lose its type, and with it the types of all links.
const screens = [
  createRoute({ ...at("/"), validateSearch: strings("window"), component: screen(() => import("../screens/overview/OverviewScreen")) }),
  createRoute({ ...at("/flows"), validateSearch: strings("q"), component: screen(() => import("../screens/flows/FlowsScreen")) }),
  createRoute({ ...at("/flows/$flow"), validateSearch: strings("version", "stage"), component: screen(() => import("../screens/flow/FlowScreen")) }),
  createRoute({ ...at("/flows/$flow/start"), validateSearch: strings("again"), component: screen(() => import("../screens/start/StartScreen")) }),
  createRoute({ ...at("/runs"), validateSearch: strings("q"), component: screen(() => import("../screens/runs/RunsScreen")) }),
  createRoute({
    ...at("/runs/$run"),
    // The Gantt chart has `order`, `axis`, `zoom`; the table `find`, `states`, `sort`; the logs `q`, `level`, `of`, `line`.
    validateSearch: strings("view", "stage", "focus", "tab", "order", "axis", "zoom", "find", "states", "sort", "q", "level", "of", "line"),
    component: screen(() => import("../screens/run/RunScreen")),
  }),
  createRoute({ ...at("/runs/$run/compare"), validateSearch: strings("with"), component: screen(() => import("../screens/compare/CompareScreen")) }),
  createRoute({
    ...at("/runs/$run/stages/$stage"),
    validateSearch: strings("tab", "color", "order", "shards", "state", "fingerprint", "worker", "attempt", "took", "q"),
    component: screen(() => import("../screens/stage/StageScreen")),
  }),
  createRoute({
    ...at("/runs/$run/stages/$stage/shards/$shard"),
    validateSearch: strings("attempt", "tab", "q", "line", "level"),
    component: screen(() => import("../screens/task/TaskScreen")),
  }),
  createRoute({ ...at("/dead-letters"), validateSearch: strings("flow", "stage", "fingerprint", "code", "run", "since"), component: screen(() => import("../screens/dead/DeadScreen")) }),
  createRoute({ ...at("/replays"), validateSearch: strings("replay"), component: screen(() => import("../screens/replays/ReplaysScreen")) }),
  createRoute({ ...at("/queues"), validateSearch: strings("q", "queue"), component: screen(() => import("../screens/queues/QueuesScreen")) }),
  createRoute({ ...at("/pools"), validateSearch: strings("q"), component: screen(() => import("../screens/pools/PoolsScreen")) }),
  createRoute({ ...at("/circuits"), validateSearch: strings("q"), component: screen(() => import("../screens/circuits/CircuitsScreen")) }),
  createRoute({ ...at("/workers"), validateSearch: strings("q", "worker"), component: screen(() => import("../screens/workers/WorkersScreen")) }),
  createRoute({ ...at("/settings"), component: screen(() => import("../screens/settings/SettingsScreen")) }),
  createRoute({ ...at("/tokens"), component: screen(() => import("../screens/tokens/TokensScreen")) }),
  createRoute({ ...at("/audit"), validateSearch: strings("actor", "verb", "target", "since", "line"), component: screen(() => import("../screens/audit/AuditScreen")) }),
  createRoute({ ...at("/webhooks"), validateSearch: strings("webhook"), component: screen(() => import("../screens/webhooks/WebhooksScreen")) }),
] as const;

const routeTree = root.addChildren(screens);

/** The page's router. Screens use `getRouteApi("/runs/$run")` for their params and search params. */
export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultErrorComponent: ScreenError,
  defaultNotFoundComponent: lazyRouteComponent(() => import("../shell/NotFound")),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
