// Takes one screenshot: node e2e/shot.mjs URL FILE.png [--dark] [--width 1440] [--height 900] [--wait SELECTOR] [--full]
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dark: { type: "boolean" }, full: { type: "boolean" }, width: { type: "string", default: "1440" }, height: { type: "string", default: "900" }, wait: { type: "string" } },
});
const [url, file] = positionals;
if (!url || !file) throw new Error("usage: node e2e/shot.mjs URL FILE.png");
const browser = await chromium.launch({ executablePath: process.env.AX_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage({
    viewport: { width: Number(values.width), height: Number(values.height) },
    colorScheme: values.dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && console.error(m.type(), m.text()));
  page.on("pageerror", (e) => console.error("page error", e.message));
  await page.goto(url);
  if (values.wait) await page.waitForSelector(values.wait, { timeout: 15_000 });
  else await page.waitForTimeout(1500);
  await page.screenshot({ path: file, fullPage: values.full ?? false });
} finally {
  await browser.close();
}
