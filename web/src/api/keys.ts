/**
 * Keys of the query cache, in one place, so that what is live, what acts and what reads mean the same entry. A longer key is a part of
 * its beginning: invalidating `keys.run(id)` reads everything of that run anew.
 */
export const keys = {
  me: ["me"] as const,
  server: ["server"] as const,
  overview: (window: string) => ["overview", window] as const,
  flows: ["flows"] as const,
  flow: (flow: string, ...rest: readonly unknown[]) => ["flows", flow, ...rest] as const,
  runs: ["runs"] as const,
  runList: (q: string) => ["runs", "list", q] as const,
  run: (run: string, ...rest: readonly unknown[]) => ["run", run, ...rest] as const,
  stage: (run: string, stage: string, ...rest: readonly unknown[]) => ["run", run, "stage", stage, ...rest] as const,
  shard: (run: string, stage: string, shard: number, ...rest: readonly unknown[]) => ["run", run, "stage", stage, "shard", shard, ...rest] as const,
  dead: (...rest: readonly unknown[]) => ["dead", ...rest] as const,
  replays: (...rest: readonly unknown[]) => ["replays", ...rest] as const,
  fleet: (kind: "queues" | "pools" | "workers" | "circuits" | "holds", ...rest: readonly unknown[]) => ["fleet", kind, ...rest] as const,
  admin: (kind: "settings" | "tokens" | "audit" | "webhooks" | "advice", ...rest: readonly unknown[]) => ["admin", kind, ...rest] as const,
};
