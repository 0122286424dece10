import { expect, inject, test } from "vitest";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newest } from "../lib/ask";
import { withBrowser } from "../lib/browser";
import { start } from "../lib/sandbox";

const { open } = withBrowser();

test("a page that is open while the server goes away says so, and goes on when it is back", { timeout: 240_000 }, async () => {
  const data = mkdtempSync(join(tmpdir(), "ax-outage-"));
  // PostgreSQL runs as a user of its own where this is root.
  chmodSync(data, 0o755);
  const binary = inject("binary");
  const port = 20_000 + (process.pid % 20_000);
  const args = ["-addr", `127.0.0.1:${port}`, "-data", data];
  let program = await start(binary, ...args);
  try {
    const run = await newest("flow:slow-report", program.base);
    const page = await open(`/runs/${run}`, { base: program.base, allow: /ERR_|Failed to load|502|503/ });
    await page.getByRole("status").filter({ hasText: /^live$/ }).waitFor();
    await program.kill();
    await page.getByRole("status").filter({ hasText: /^stale/ }).waitFor();
    program = await start(binary, ...args);
    await page.getByRole("status").filter({ hasText: /^live$/ }).waitFor({ timeout: 60_000 });
    // What could not be loaded meanwhile can be had again, be it by another load of the page.
    const palette = page.getByRole("combobox", { name: "Go to, start, find" });
    for (let i = 0; i < 20 && !(await palette.isVisible()); i++) {
      await page.keyboard.press("Control+k");
      await palette.waitFor({ timeout: 3_000 }).catch(() => {});
    }
    expect(await palette.isVisible()).toBe(true);
  } finally {
    await program.kill();
    rmSync(data, { recursive: true, force: true });
  }
});

test("a paused page stays as it is until it is continued", async () => {
  const page = await open("/runs");
  await page.getByRole("button", { name: "Pause live" }).click();
  await page.getByRole("status").filter({ hasText: /^paused/ }).waitFor();
  await page.getByRole("button", { name: "Continue live" }).click();
  await page.getByRole("status").filter({ hasText: /^live$/ }).waitFor();
});
