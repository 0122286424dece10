import { expect, test } from "vitest";
import type { components } from "../../src/api/schema";
import { ask, reaches, startRun } from "../lib/ask";
import { withBrowser } from "../lib/browser";

const { open } = withBrowser();

test.each(["light", "dark"] as const)("the failed shards of a stage are found on the heat map and retried, %s", async (theme) => {
  const run = await startRun("orders-sync", { source: "shopify", shards: 600, median_ms: 5 });
  const before = await reaches(run, "failed");
  const dead = before.stages.find((s) => s.name === "sync")?.dead ?? 0;
  expect(dead).toBeGreaterThan(0);

  const page = await open(`/runs/${run}`, { theme });
  await page.getByRole("button", { name: /^sync: failed/ }).click();
  await page.getByRole("link", { name: /Open its shards/  }).click();
  await page.waitForURL(/\/stages\/sync/);
  await page.locator("[data-heatmap]").waitFor();

  await page.getByRole("tab", { name: /^Failures/ }).click();
  await page.getByRole("button", { name: /^Select all failed/ }).click();
  const bar = page.getByRole("region", { name: "Selection" });
  await bar.getByText(`${dead} shards selected`).waitFor();
  expect(page.url()).toContain("shards=");
  await bar.getByRole("button", { name: "Retry failed" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/runs again as attempt/).first().waitFor();
  await dialog.getByRole("button", { name: "Retry failed" }).click();
  await dialog.waitFor({ state: "detached" });

  // They ran again: each has more attempts than before. (They fail again, because the demo's source is what it is.)
  await reaches(run, "failed");
  const failures = await ask<components["schemas"]["AttemptList"]>(`/api/v1/runs/${run}/failures?stage=sync&limit=1`);
  expect(failures.items[0]?.attempt).toBeGreaterThan(1);
});
