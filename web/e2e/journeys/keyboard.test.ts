import { expect, test } from "vitest";
import { reaches } from "../lib/ask";
import { runIn, withBrowser } from "../lib/browser";

const { open } = withBrowser();

test("a run is started, looked at and cancelled with the keyboard alone", async () => {
  const page = await open("/");
  const { keyboard } = page;
  await page.getByRole("heading", { level: 1 }).waitFor();
  await keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to, start, find" }).waitFor();
  await keyboard.type("start slow-report");
  await page.getByRole("option", { name: /slow-report/ }).first().waitFor();
  await keyboard.press("Enter");
  await page.waitForURL(/\/flows\/slow-report\/start/);
  await page.getByRole("button", { name: "Start run" }).waitFor();
  await focus(async () => page.evaluate(() => document.activeElement?.textContent?.trim() === "Start run" && document.activeElement.tagName === "BUTTON"), () => keyboard.press("Tab"));
  await keyboard.press("Enter");
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
  const run = runIn(page.url());

  await page.getByRole("button", { name: "Cancel", exact: true }).waitFor();
  await focus(async () => page.evaluate(() => document.activeElement?.textContent?.trim() === "Cancel"), () => keyboard.press("Tab"));
  await keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Stops what runs", { exact: false }).waitFor();
  await focus(async () => page.evaluate(() => document.activeElement?.closest("[role=dialog]") !== null && document.activeElement?.textContent?.trim() === "Cancel" && !document.activeElement.hasAttribute("disabled")), () => keyboard.press("Tab"));
  await keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  expect((await reaches(run, "cancelled")).run.flow).toBe("slow-report");
});

/** Presses until the focus is where it should be; what needs more than so many presses is not reachable for people. */
async function focus(there: () => Promise<boolean>, press: () => Promise<void>): Promise<void> {
  for (let i = 0; i < 80; i++) {
    if (await there()) return;
    await press();
  }
  throw new Error("the keyboard does not get there");
}
