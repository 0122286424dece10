import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { expect, inject, test } from "vitest";
import { withBrowser } from "../lib/browser";
import { screens } from "../lib/screens";

const { open } = withBrowser();
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

test.each(["light", "dark"] as const)("axe finds nothing serious on any screen, %s", { timeout: 400_000 }, async (theme) => {
  const faults: string[] = [];
  // The form to start a run asks while it is filled in, and is refused as long as something is missing.
  const page = await open("/", { theme, allow: /422/ });
  for (const screen of await screens()) {
    await page.goto(inject("base") + screen.path);
    await page.locator(screen.ready).first().waitFor();
    await page.evaluate(source);
    const found = await page.evaluate(async () => {
      const { axe } = window as unknown as { axe: { run(): Promise<AxeResults> } }; // what the evaluated text has put there
      return (await axe.run()).violations.map((v) => ({ id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map((n) => n.html.slice(0, 300)) }));
    });
    for (const v of found) {
      const nodes = v.nodes.filter((html) => !excused(v.id, html)).slice(0, 5);
      if (nodes.length > 0 && (v.impact === "serious" || v.impact === "critical")) faults.push(`${screen.name}: ${v.id}, ${v.help}\n    ${nodes.join("\n    ")}`);
    }
  }
  expect(faults.join("\n")).toBe("");
});

/** The name of a stage's box has its label, the stage's name, in it; what else is seen there are figures, which would have it said anew each second. */
const excused = (rule: string, html: string): boolean => rule === "label-content-name-mismatch" && html.includes("data-stage=");
