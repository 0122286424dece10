import type { components } from "../../src/api/schema";
import { ask, newest } from "./ask";

/** Every screen, with an address that has content, and what is there once it stands. */
export async function screens(base?: string): Promise<readonly { name: string; path: string; ready: string }[]> {
  const sync = await newest("flow:orders-sync state:failed", base);
  const recon = await newest("flow:daily-recon state:succeeded", base);
  const waits = await newest("flow:needs-gpu state:open", base);
  const stopped = await newest("flow:orders-sync state:cancelled", base);
  // One that was tried as often as it may be, so that there are attempts to compare.
  const shards = await ask<components["schemas"]["ShardList"]>(`/api/v1/runs/${sync}/stages/sync/shards?state=dead&limit=100`, undefined, base);
  const shard = shards.items.toSorted((a, b) => (b.attempt ?? 0) - (a.attempt ?? 0))[0]?.index ?? 0;
  return [
    { name: "overview", path: "/", ready: "canvas" },
    { name: "flows", path: "/flows", ready: "text=daily-recon" },
    { name: "flow", path: "/flows/daily-recon", ready: "text=drop-tables" },
    { name: "start", path: "/flows/onboarding/start", ready: "role=button[name='Start run']" },
    { name: "runs", path: "/runs", ready: "role=row[name=/orders-sync/]" },
    { name: "run-dag", path: `/runs/${recon}`, ready: ".react-flow__node" },
    { name: "run-gantt", path: `/runs/${recon}?view=gantt`, ready: "text=drop-tables" },
    { name: "run-table", path: `/runs/${recon}?view=table`, ready: "text=drop-tables" },
    { name: "run-journal", path: `/runs/${stopped}?view=journal`, ready: "role=columnheader[name=When]" },
    { name: "run-logs", path: `/runs/${sync}?view=logs`, ready: "role=button[name=Download]" },
    { name: "run-params", path: `/runs/${sync}?view=params`, ready: "text=Newest failed attempts" },
    { name: "why", path: `/runs/${waits}?why=${waits}`, ready: "role=dialog" },
    { name: "compare", path: `/runs/${recon}/compare`, ready: "text=What stands out" },
    { name: "stage", path: `/runs/${sync}/stages/sync`, ready: "[data-heatmap]" },
    { name: "stage-failures", path: `/runs/${sync}/stages/sync?tab=failures`, ready: "[data-heatmap]" },
    { name: "task", path: `/runs/${sync}/stages/sync/shards/${shard}`, ready: "text=Attempt 1" },
    { name: "dead-letters", path: "/dead-letters", ready: "text=orders-sync" },
    { name: "replays", path: "/replays", ready: "role=row[name=/daily-recon/]" },
    { name: "queues", path: "/queues", ready: "role=row" },
    { name: "pools", path: "/pools", ready: "role=row" },
    { name: "workers", path: "/workers", ready: "role=row" },
    { name: "circuits", path: "/circuits", ready: "role=row" },
    { name: "settings", path: "/settings", ready: "role=switch" },
    { name: "webhooks", path: "/webhooks", ready: "text=on call" },
    { name: "tokens", path: "/tokens", ready: "text=grafana" },
    { name: "audit", path: "/audit", ready: "role=row" },
  ];
}
