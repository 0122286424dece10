import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { expect, test } from "vitest";
import { withBrowser } from "../lib/browser";
import { screens } from "../lib/screens";

const { open } = withBrowser();
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

test.each(["light", "dark"] as const)("axe finds nothing serious on any screen, %s", { timeout: 400_000 }, async (theme) => {
  const faults: string[] = [];
  for (const screen of await screens()) {
    const page = await open(screen.path, { theme });
    await page.locator(screen.ready).first().waitFor();
    await page.evaluate(source);
    const found = await page.evaluate(async () => {
      const { axe } = window as unknown as { axe: { run(): Promise<AxeResults> } }; // what the evaluated text has put there
      return (await axe.run()).violations.map((v) => ({ id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 5).map((n) => n.html.slice(0, 300)) }));
    });
    for (const v of found) if (v.impact === "serious" || v.impact === "critical") faults.push(`${screen.name}: ${v.id}, ${v.help}\n    ${v.nodes.join("\n    ")}`);
    await page.close();
  }
  expect(faults.join("\n")).toBe("");
});
