import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, inject, onTestFinished } from "vitest";
import { askAt } from "./ask";
import { launch } from "./chromium";

export interface OpenOptions {
  theme?: "light" | "dark";
  width?: number;
  height?: number;
  /** What the page may say on the console: errors that the journey brings about. */
  allow?: RegExp;
  /** Another program than the shared one. */
  base?: string;
}

/** Where screenshots of failed journeys go. */
const failures = process.env["AX_FAILURES"] ?? join(import.meta.dirname, "../failures");

let browser: Browser | undefined;

/** Gives a file of journeys its browser; call it once at the top. `open` opens a page in a context of its own. */
export function withBrowser(): { open(path: string, options?: OpenOptions): Promise<Page> } {
  askAt(() => inject("base"));
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
  });
  return { open };
}

async function open(path: string, { theme = "light", width = 1440, height = 900, allow, base = inject("base") }: OpenOptions = {}): Promise<Page> {
  if (!browser) throw new Error("the browser is not there yet");
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce", timezoneId: "UTC", permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const faults = watch(page, base, allow);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") {
      mkdirSync(failures, { recursive: true });
      const file = join(failures, `${task.name.replaceAll(/\W+/g, "-")}.png`);
      await page.screenshot({ path: file }).catch(() => {});
      console.error(`${task.name}: failed at ${page.url()}, see ${file}`);
    }
    await close(context);
    if (faults.length > 0) throw new Error(`the page is not clean:\n${faults.join("\n")}`);
  });
  await page.goto(base + path);
  return page;
}

async function close(context: BrowserContext): Promise<void> {
  await context.close().catch(() => {});
}

/** Collects what no journey may see: errors, requests to other places, and what the content security policy stopped. */
function watch(page: Page, base: string, allow: RegExp | undefined): string[] {
  const faults: string[] = [];
  const note = (text: string): void => {
    if (!allow?.test(text)) faults.push(text);
  };
  page.on("console", (m) => {
    // A refused request is logged by the browser itself; whether it may be refused is the journey's to say.
    if (m.type() === "error") note(`console: ${m.text()} (${m.location().url})`);
  });
  page.on("pageerror", (e) => note(`error: ${e.message}`));
  page.on("request", (r) => {
    const url = new URL(r.url());
    if (url.origin !== base && url.protocol !== "data:" && url.protocol !== "blob:") note(`request to another place: ${r.url()}`);
  });
  return faults;
}

/** The run that an address is about. */
export function runIn(url: string): string {
  const id = /\/runs\/([0-9a-f-]{36})/.exec(url)?.[1];
  if (!id) throw new Error(`${url} is not a run's`);
  return id;
}
