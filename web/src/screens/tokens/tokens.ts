import type { Schemas } from "../../api/client";

/** Whether a token works. */
export type TokenState = "active" | "expired" | "revoked";

/** Whether a token works now. */
export function stateOf(t: Pick<Schemas["Token"], "revoked_at" | "expires_at">, now: number): TokenState {
  if (t.revoked_at) return "revoked";
  return t.expires_at && new Date(t.expires_at).getTime() <= now ? "expired" : "active";
}

/** How long a token can be made to live, in seconds; the API takes 60 s to 10 years. */
export const lives: readonly { value: string; label: string }[] = [
  { value: "86400", label: "1 day" },
  { value: "604800", label: "7 days" },
  { value: "2592000", label: "30 days" },
  { value: "7776000", label: "90 days" },
  { value: "31536000", label: "1 year" },
];

/** What each role may, as the API's roles are. A token can be narrowed to some of it. */
export const roles: readonly { role: Schemas["Role"]; says: string; permissions: readonly Schemas["Permission"][] }[] = [
  { role: "viewer", says: "Sees flows, runs, their data and the fleet.", permissions: ["flows:read", "runs:read", "payloads:read", "fleet:read", "metrics:read"] },
  { role: "worker", says: "Sees flows, runs and their data, and starts runs.", permissions: ["flows:read", "runs:read", "payloads:read", "runs:start"] },
  {
    role: "operator",
    says: "Sees everything, starts runs, and steers runs, flows and the fleet.",
    permissions: ["flows:read", "runs:read", "payloads:read", "fleet:read", "metrics:read", "runs:start", "runs:operate", "flows:operate", "fleet:operate"],
  },
  {
    role: "admin",
    says: "All that an operator may, and tokens, webhooks and the audit.",
    permissions: ["flows:read", "runs:read", "payloads:read", "fleet:read", "metrics:read", "runs:start", "runs:operate", "flows:operate", "fleet:operate", "access:admin", "audit:read", "webhooks:admin"],
  },
];
