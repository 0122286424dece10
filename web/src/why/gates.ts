import type { Schemas } from "../api/client";

type Gate = Schemas["Gate"];

const names: Record<string, string> = {
  stuck: "Decidable",
  leader: "Leader",
  cancel: "Not cancelled",
  upstream: "Upstreams",
  plan: "Plan",
  decision: "Decision",
  aligned: "Upstream shards",
  retry: "Retry",
  child: "Child run",
  budget: "Time budget",
  end: "Not ended",
  not_before: "Due",
  capability: "Workers that can run it",
  paused: "Not paused",
  breaker: "Circuit",
  pressure: "Queue pressure",
  limit: "Concurrency limit",
  rate: "Start rate",
  retry_window: "Window of retries",
  capacity: "Room in a worker",
  turn: "Its turn",
};

/** A gate's name for people. */
export const gateName = (g: Pick<Gate, "name">): string => names[g.name] ?? g.name.replaceAll("_", " ");

/** What a gate covers: "queue default/mail" is the queue mail of the namespace default; the namespace is left out, since a reader has only one. */
export function scopeOf(g: Pick<Gate, "scope">): { kind: string; name: string } | undefined {
  if (!g.scope) return undefined;
  const blank = g.scope.indexOf(" ");
  if (blank < 0) return { kind: g.scope, name: "" };
  const kind = g.scope.slice(0, blank);
  const full = g.scope.slice(blank + 1);
  const slash = full.indexOf("/");
  return { kind, name: slash < 0 ? full : full.slice(slash + 1) };
}

/** Of the gates that are closed, in which order they tell most (as engine/explain has it). Whose turn it is tells least. */
const order = [
  "stuck", "end", "leader", "cancel", "paused", "budget", "upstream", "plan", "decision", "aligned", "child", "retry", "not_before", "breaker", "pressure", "capability", "limit", "rate", "retry_window",
  "capacity", "turn",
];

const rank = (g: Gate): number => {
  const i = order.indexOf(g.name);
  return i < 0 ? order.indexOf("capability") : i;
};

/** Gates for a checklist: closed ones first, the most telling at the top; the others in the order that they came in. */
export function ranked(gates: readonly Gate[]): Gate[] {
  const shut = gates.filter((g) => !g.open);
  return [...shut.sort((a, b) => rank(a) - rank(b)), ...gates.filter((g) => g.open)];
}

/** Why something does not move, in few words for a box of a graph; undefined for a gate that is no trouble: time, turn and upstreams come by themselves. */
export function heldBy(gates: readonly Gate[]): string | undefined {
  for (const g of ranked(gates)) {
    if (g.open) return undefined;
    const scope = scopeOf(g);
    switch (g.name) {
      case "stuck":
        return "stuck";
      case "leader":
        return "no engine leads";
      case "paused":
        return scope && scope.kind !== "the" ? `${scope.kind} ${scope.name} paused` : "run paused";
      case "breaker":
        return scope ? `circuit ${scope.name} open` : "circuit open";
      case "pressure":
        return scope ? `queue ${scope.name} is full` : "queue is full";
      case "capability":
        return "no worker can run it";
      case "limit":
        return scope ? `limit of ${scope.kind} ${scope.name}` : "at its limit";
      case "rate":
      case "retry_window":
        return "at its rate";
      case "capacity":
        return "workers are full";
      case "budget":
        return "out of time";
      default:
    }
  }
  return undefined;
}
