import { test } from "vitest";
import { newest } from "../lib/ask";
import { withBrowser } from "../lib/browser";

const { open } = withBrowser();

test.each(["light", "dark"] as const)("a queued run says why it waits, and what to do, %s", async (theme) => {
  const run = await newest("flow:needs-gpu state:open");
  const page = await open("/runs?q=flow:needs-gpu+state:open", { theme });
  await page.getByRole("link", { name: new RegExp(run.slice(-4)) }).click();
  await page.waitForURL(new RegExp(run));
  await page.getByRole("link", { name: "Why?" }).click();
  const drawer = page.getByRole("dialog");
  await drawer.getByText(/gpu/).first().waitFor();
  await drawer.getByRole("link", { name: "train", exact: true }).first().click();
  await page.waitForURL(/why=[^&]*train/);
  await drawer.getByText(/label/).first().waitFor();
  await page.goBack();
  await page.waitForURL(new RegExp(`why=${run}$`));
});
