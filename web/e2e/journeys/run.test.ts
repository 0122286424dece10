import { expect, test } from "vitest";
import { reaches } from "../lib/ask";
import { runIn, withBrowser } from "../lib/browser";

const { open } = withBrowser();

test.each(["light", "dark"] as const)("a run is started from the form, watched live and cancelled, %s", async (theme) => {
  // The form asks while it is filled in, and is refused as long as something is missing.
  const page = await open("/flows/orders-sync", { theme, allow: /422/ });
  await page.getByRole("link", { name: "Start run", exact: true }).click();
  await page.getByRole("combobox", { name: "Source" }).click();
  await page.getByRole("option", { name: "magento" }).click();
  await page.getByRole("textbox", { name: "Shards" }).fill("400");
  // It goes before what the demo has going.
  await page.getByRole("combobox", { name: "Level" }).click();
  await page.getByRole("option", { name: /^P0/ }).click();
  await page.getByRole("button", { name: "Start run", exact: true }).click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
  const run = runIn(page.url());

  // Live: the mark says so, and a count moves without a reload.
  await page.getByRole("status").filter({ hasText: /^live$/ }).waitFor();
  const node = page.getByRole("button", { name: /^sync: running/ });
  await node.waitFor();
  const said = await node.getAttribute("aria-label");
  await page.waitForFunction(([before]) => ![...document.querySelectorAll("[aria-label^='sync: ']")].some((e) => e.getAttribute("aria-label") === before), [said]);

  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("started for a look");
  await dialog.getByRole("button", { name: "Cancel", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await page.locator("main header").getByText("cancelled").waitFor();
  const detail = await reaches(run, "cancelled");
  expect(detail.run.flow).toBe("orders-sync");
  expect(detail.stages.find((s) => s.name === "sync")?.total).toBe(400);
});

test("a form says what the server refuses, at its field", async () => {
  const page = await open("/flows/onboarding/start", { allow: /422/ });
  await page.getByRole("button", { name: "Start run" }).click();
  await page.getByRole("alert").first().waitFor();
  expect(page.url()).toContain("/flows/onboarding/start");
});
