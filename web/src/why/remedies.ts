import type { Schemas } from "../api/client";
import { ranked, scopeOf } from "./gates";

type Explanation = Schemas["Explanation"];

/** What a reader can do about something that does not go on: an act, or the place where it is seen to. */
export type Remedy =
  | { kind: "resume-run"; run: string }
  | { kind: "resume-queue"; queue: string }
  | { kind: "resume-flow"; flow: string }
  | { kind: "close-circuit"; circuit: { kind: Schemas["CircuitKind"]; name: string } }
  | { kind: "retry"; run: string; stage: string; shards?: string; count: number }
  | { kind: "cancel"; run: string }
  | { kind: "queue"; queue: string }
  | { kind: "workers" }
  | { kind: "pools" };

/** What can be done about what an explanation says, the most useful first; each once. Of a run it is about the stages that hold it up. */
export function remedies(e: Explanation): Remedy[] {
  const out = new Map<string, Remedy>();
  const add = (r: Remedy | undefined) => r && out.set(JSON.stringify(r), r);
  const look = (x: Explanation) => {
    for (const g of ranked(x.gates ?? [])) add(remedy(g, x));
    for (const group of x.groups ?? []) {
      if ((group.fate === "dead" || group.fate === "expired") && x.stage !== undefined) continue;
      // What runs already frees the way for the others by itself.
      for (const g of ranked(group.gates ?? [])) add(remedy(g, x));
    }
    const dead = (x.groups ?? []).filter((g) => g.fate === "dead" || g.fate === "expired").reduce((n, g) => n + g.tasks, 0);
    if (dead > 0 && x.stage !== undefined) add({ kind: "retry", run: x.run, stage: x.stage, count: dead });
  };
  look(e);
  if (e.shard !== undefined && e.stage !== undefined && (e.state === "dead" || e.state === "expired")) {
    add({ kind: "retry", run: e.run, stage: e.stage, ...(e.shard >= 0 ? { shards: String(e.shard) } : {}), count: 1 });
  }
  for (const s of e.stages ?? []) {
    if (out.size > 2) break;
    look(s);
  }
  return [...out.values()];
}

function remedy(g: Schemas["Gate"], x: Explanation): Remedy | undefined {
  if (g.open) return undefined;
  const scope = scopeOf(g);
  switch (g.name) {
    case "stuck":
      return { kind: "cancel", run: x.run };
    case "paused":
      if (scope?.kind === "queue") return { kind: "resume-queue", queue: scope.name };
      if (scope?.kind === "flow") return { kind: "resume-flow", flow: scope.name };
      return { kind: "resume-run", run: x.run };
    case "breaker":
      if (scope?.kind !== "downstream" && scope?.kind !== "handler") return undefined;
      return { kind: "close-circuit", circuit: { kind: scope.kind, name: scope.name } };
    case "limit":
    case "pressure":
      return scope?.kind === "queue" ? { kind: "queue", queue: scope.name } : undefined;
    case "capability":
      return { kind: "workers" };
    case "capacity":
      return g.limit === 0 ? undefined : { kind: "pools" };
    default:
      return undefined;
  }
}
