import { expect, test } from "vitest";
import type { components } from "../../src/api/schema";
import { ask } from "../lib/ask";
import { withBrowser } from "../lib/browser";

const { open } = withBrowser();

test.each(["light", "dark"] as const)("dead letters are replayed with a canary, %s", async (theme) => {
  const page = await open("/dead-letters?flow=orders-sync", { theme });
  await page.getByRole("checkbox").nth(1).check();
  await page.getByRole("button", { name: "Replay selected…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("the source is repaired");
  await dialog.getByRole("button", { name: "Replay", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  const replays = await ask<components["schemas"]["ReplayList"]>("/api/v1/replays?limit=1");
  expect(replays.items[0]?.reason).toBe("the source is repaired");
});
