// Takes the pictures of docs/img, each screen with the sandbox's content:
//
//	make screenshots
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { launch } from "./lib/chromium";
import { start } from "./lib/sandbox";
import { screens } from "./lib/screens";

const { values } = parseArgs({ options: { sandbox: { type: "string" }, out: { type: "string", default: "../docs/img" }, only: { type: "string" } } });
const dark = new Set(["overview", "run-dag", "stage"]);
const folder = mkdtempSync(join(tmpdir(), "ax-screenshots-"));
const binary = values.sandbox ?? join(folder, "sandbox");
if (!values.sandbox) execFileSync("go", ["build", "-o", binary, "./web/sandbox"], { cwd: "..", stdio: "inherit" });
const out = resolve(values.out);
mkdirSync(out, { recursive: true });
const program = await start(binary, "-addr", "127.0.0.1:0");
const browser = await launch();
try {
  for (const screen of await screens(program.base)) {
    if (values.only && !values.only.split(",").includes(screen.name)) continue;
    for (const theme of dark.has(screen.name) ? (["light", "dark"] as const) : (["light"] as const)) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: theme, reducedMotion: "reduce", timezoneId: "UTC" });
      const page = await context.newPage();
      await page.goto(program.base + screen.path);
      await page.locator(screen.ready).first().waitFor({ timeout: 60_000 });
      // What comes after the first content: charts, charts' figures, explanations.
      await page.waitForTimeout(2_500);
      const file = join(out, theme === "dark" ? `${screen.name}-dark.png` : `${screen.name}.png`);
      await page.screenshot({ path: file });
      console.log(file);
      await context.close();
    }
  }
} finally {
  await browser.close();
  await program.stop();
  rmSync(folder, { recursive: true, force: true });
}
