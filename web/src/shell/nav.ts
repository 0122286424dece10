import type { Schemas } from "../api/client";

/** A place of the page in the navigation and the palette. */
export interface Place {
  to: string;
  name: string;
  /** Typed after `g`, it goes there. */
  key?: string;
  /** Those without it do not see the place. */
  needs?: Schemas["Permission"];
}

/** What is to come: its place is kept, so that nothing moves then. */
export const coming: readonly { name: string; hint: string }[] = [
  { name: "Schedules", hint: "Schedules are not in this version. Start runs from cron or CI until then." },
  { name: "Backfills", hint: "Backfills are not in this version. Start runs one by one until then." },
];

/** The navigation, in groups. */
export const places: readonly { group: string; places: readonly Place[] }[] = [
  {
    group: "",
    places: [
      { to: "/", name: "Overview", key: "o" },
      { to: "/flows", name: "Flows", key: "f", needs: "flows:read" },
      { to: "/runs", name: "Runs", key: "r", needs: "runs:read" },
      { to: "/dead-letters", name: "Dead letters", key: "d", needs: "runs:read" },
      { to: "/replays", name: "Replays", needs: "runs:read" },
    ],
  },
  {
    group: "Fleet",
    places: [
      { to: "/queues", name: "Queues", key: "q", needs: "fleet:read" },
      { to: "/pools", name: "Pools", needs: "fleet:read" },
      { to: "/workers", name: "Workers", key: "w", needs: "fleet:read" },
      { to: "/circuits", name: "Circuits", key: "c", needs: "fleet:read" },
    ],
  },
  {
    group: "Administration",
    places: [
      { to: "/settings", name: "Settings", key: "s", needs: "fleet:read" },
      { to: "/webhooks", name: "Webhooks", needs: "webhooks:admin" },
      { to: "/tokens", name: "Tokens", needs: "access:admin" },
      { to: "/audit", name: "Audit", key: "a", needs: "audit:read" },
    ],
  },
];
