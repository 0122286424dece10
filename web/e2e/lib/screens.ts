import { newest } from "./ask";

/** Every screen, with an address that has content, and what is there once it stands. */
export async function screens(base?: string): Promise<readonly { name: string; path: string; ready: string }[]> {
  const sync = await newest("flow:orders-sync state:failed", base);
  const recon = await newest("flow:daily-recon state:succeeded", base);
  const waits = await newest("flow:needs-gpu state:open", base);
  return [
    { name: "overview", path: "/", ready: "canvas" },
    { name: "flows", path: "/flows", ready: "text=daily-recon" },
    { name: "flow", path: "/flows/daily-recon", ready: "text=drop-tables" },
    { name: "start", path: "/flows/onboarding/start", ready: "role=button[name='Start run']" },
    { name: "runs", path: "/runs", ready: "role=row[name=/orders-sync/]" },
    { name: "run-dag", path: `/runs/${recon}`, ready: ".react-flow__node" },
    { name: "run-gantt", path: `/runs/${recon}?view=gantt`, ready: "text=drop-tables" },
    { name: "run-table", path: `/runs/${recon}?view=table`, ready: "text=drop-tables" },
    { name: "run-journal", path: `/runs/${sync}?view=journal`, ready: "main" },
    { name: "run-logs", path: `/runs/${sync}?view=logs`, ready: "main" },
    { name: "run-params", path: `/runs/${sync}?view=params`, ready: "main" },
    { name: "why", path: `/runs/${waits}?why=${waits}`, ready: "role=dialog" },
    { name: "compare", path: `/runs/${recon}/compare`, ready: "main h1" },
    { name: "stage", path: `/runs/${sync}/stages/sync`, ready: "[data-heatmap]" },
    { name: "stage-failures", path: `/runs/${sync}/stages/sync?tab=failures`, ready: "[data-heatmap]" },
    { name: "task", path: `/runs/${sync}/stages/sync/shards/3`, ready: "main h1" },
    { name: "dead-letters", path: "/dead-letters", ready: "text=orders-sync" },
    { name: "replays", path: "/replays", ready: "main h1" },
    { name: "queues", path: "/queues", ready: "role=row" },
    { name: "pools", path: "/pools", ready: "role=row" },
    { name: "workers", path: "/workers", ready: "role=row" },
    { name: "circuits", path: "/circuits", ready: "main h1" },
    { name: "settings", path: "/settings", ready: "main h1" },
    { name: "webhooks", path: "/webhooks", ready: "text=on call" },
    { name: "tokens", path: "/tokens", ready: "text=grafana" },
    { name: "audit", path: "/audit", ready: "role=row" },
  ];
}
