import { afterAll, beforeAll, inject, test } from "vitest";
import { withBrowser } from "../lib/browser";
import { start, type Program } from "../lib/sandbox";

const { open } = withBrowser();

let program: Program;
beforeAll(async () => {
  program = await start(inject("binary"), "-addr", "127.0.0.1:0", "-login", "-quiet");
}, 240_000);
afterAll(() => program?.stop());

test.each(["light", "dark"] as const)("who has no credential logs in with a token, and comes to where they wanted to go, %s", async (theme) => {
  const page = await open("/flows/billing", { base: program.base, theme, allow: /401|auth\/login/ });
  const box = page.getByLabel("Token");
  await box.fill("ax_0123456789012345678901234567890123456789012");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("The server does not know this token").waitFor();
  await box.fill(program.token ?? "");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { level: 1, name: "billing" }).waitFor();
  await page.getByRole("status").filter({ hasText: /^live$/ }).waitFor();
  // The token stays with the tab: a reload does not ask again, another tab does.
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "billing" }).waitFor();
  const other = await page.context().newPage();
  await other.goto(`${program.base}/flows/billing`);
  await other.getByLabel("Token").waitFor();
});
