import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

/** Where the browser may be; `AX_CHROMIUM` comes first. */
const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];

/** The browser's path. Without one it fails: a journey that is not made proves nothing. */
export function chromiumPath(): string {
  const path = process.env["AX_CHROMIUM"] ?? places.find((p) => existsSync(p));
  if (!path) throw new Error(`no browser at ${places.join(", ")}: install chromium, or say where it is with AX_CHROMIUM`);
  return path;
}

/** Starts the browser, without a window. */
export const launch = (): Promise<Browser> => chromium.launch({ executablePath: chromiumPath(), args: ["--no-sandbox", "--disable-dev-shm-usage"] });
