/** How far back the audit is shown, by the name in the address. */
export const spans: readonly { value: string; label: string; seconds: number }[] = [
  { value: "1h", label: "Last hour", seconds: 3600 },
  { value: "24h", label: "Last 24 hours", seconds: 86_400 },
  { value: "7d", label: "Last 7 days", seconds: 7 * 86_400 },
  { value: "30d", label: "Last 30 days", seconds: 30 * 86_400 },
  { value: "", label: "All time", seconds: 0 },
];

/** The verbs of operators that the audit writes; the engine has some of its own. */
export const verbs: readonly string[] = [
  "add_webhook", "cancel", "cancel_replay", "clear_pool", "clear_queue", "close_circuit", "create_token", "demote", "discard", "drain", "drop_webhook", "expedite", "level", "login", "logout",
  "mark_success", "open_circuit", "pause", "replay", "rerun", "rerun_shards", "resume", "retry", "revoke_token", "set_pool", "set_queue", "set_setting", "skip", "skip_shards", "start",
]; // prettier-ignore

/** Where on the page a target is looked at; undefined for what has no place. */
export type TargetLink =
  | { to: "/runs/$run"; params: { run: string } }
  | { to: "/runs/$run/stages/$stage"; params: { run: string; stage: string } }
  | { to: "/flows/$flow"; params: { flow: string } }
  | { to: "/queues"; search: { queue: string } }
  | { to: "/workers"; search: { worker: string } }
  | { to: "/replays"; search: { replay: string } }
  | { to: "/pools" | "/circuits"; search: { q: string } }
  | { to: "/settings" | "/tokens" }
  | { to: "/webhooks"; search: { webhook: string } };

/** Finds the place of a target such as `run/0192…/load` or `queue/etl`. */
export function targetLink(target: string): TargetLink | undefined {
  const [kind = "", ...more] = target.split("/");
  const rest = more.join("/");
  if (rest === "") return undefined;
  switch (kind) {
    case "run": {
      const [run = "", ...stage] = more;
      return stage.length > 0 ? { to: "/runs/$run/stages/$stage", params: { run, stage: stage.join("/") } } : { to: "/runs/$run", params: { run } };
    }
    case "flow":
      return { to: "/flows/$flow", params: { flow: rest } };
    case "queue":
      return { to: "/queues", search: { queue: rest } };
    case "worker":
      return { to: "/workers", search: { worker: rest } };
    case "replay":
      return { to: "/replays", search: { replay: rest } };
    case "pool":
      return { to: "/pools", search: { q: rest } };
    case "circuit":
      return { to: "/circuits", search: { q: more.slice(1).join("/") || rest } };
    case "setting":
      return { to: "/settings" };
    case "token":
      return { to: "/tokens" };
    case "webhook":
      return { to: "/webhooks", search: { webhook: rest } };
    default:
      return undefined;
  }
}

/** The moment that an id was made: ids of version 7 begin with it. Undefined for other ids. */
export function madeAt(id: string): Date | undefined {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(id)) return undefined;
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}
