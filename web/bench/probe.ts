import type { Browser, CDPSession, Page } from "playwright-core";

/** A page under measurement. */
export interface Probe {
  page: Page;
  cdp: CDPSession;
  /** What has come over the network so far, in bytes as they were sent (compressed), the event stream left out. */
  shipped(): number;
  /** What has come on the event stream, in bytes. */
  streamed(): number;
  close(): Promise<void>;
}

/** Opens an empty page whose traffic is counted. */
export async function probe(browser: Browser): Promise<Probe> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  const streams = new Set<string>();
  let shipped = 0;
  let streamed = 0;
  cdp.on("Network.requestWillBeSent", (e) => {
    if (new URL(e.request.url).pathname === "/api/v1/events") streams.add(e.requestId);
  });
  cdp.on("Network.dataReceived", (e) => {
    // Chromium gives encodedDataLength 0 for data out of its cache, which is not shipped.
    if (streams.has(e.requestId)) streamed += Math.max(e.encodedDataLength, 0) || e.dataLength;
    else shipped += Math.max(e.encodedDataLength, 0);
  });
  await page.addInitScript(countFrames);
  return { page, cdp, shipped: () => shipped, streamed: () => streamed, close: () => context.close() };
}

/** When the first element that matches is drawn, in ms since the navigation began: seen by the page itself, so that asking from outside costs nothing. */
export const seen = (page: Page, selector: string): Promise<number> =>
  page.evaluate((what) => {
    // The frames since the navigation have been counted; whether it is there is looked at in each from now on.
    return new Promise<number>((done) => {
      const look = (): void => {
        const element = document.querySelector(what);
        if (element && element.getBoundingClientRect().width > 0 && getComputedStyle(element).visibility === "visible") done(Math.round(performance.now()));
        else requestAnimationFrame(look);
      };
      look();
    });
  }, selector);

declare global {
  interface Window {
    /** When each frame was drawn, in ms since the page began. */
    axFrames: number[];
  }
}

function countFrames(): void {
  window.axFrames = [];
  const tick = (at: number): void => {
    window.axFrames.push(at);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

/** Frames a second, and the longest time between two of them in ms, while `meanwhile` goes on. */
export async function frames(page: Page, meanwhile: () => Promise<void>): Promise<{ fps: number; worst: number }> {
  await page.evaluate(() => (window.axFrames.length = 0));
  await meanwhile();
  const times = await page.evaluate(() => window.axFrames);
  const gaps = times.slice(1).map((at, i) => at - (times[i] ?? at));
  const took = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return { fps: round((gaps.length / took) * 1000), worst: round(Math.max(...gaps)) };
}

/** When the browser painted something first, in ms since the navigation began. */
export const firstPaint = (page: Page): Promise<number> =>
  page.evaluate(() => Math.round(performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN));

/** Ms since the navigation began. */
export const sinceStart = (page: Page): Promise<number> => page.evaluate(() => Math.round(performance.now()));

/** The JavaScript heap in MB, after a collection. */
export async function heap({ cdp }: Probe): Promise<number> {
  await cdp.send("HeapProfiler.collectGarbage");
  const { usedSize } = await cdp.send("Runtime.getHeapUsage");
  return round(usedSize / 1e6);
}

/** Waits; only for measuring over a time. */
export const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One decimal. */
export const round = (n: number): number => Math.round(n * 10) / 10;

/** The id of the newest run of a flow. */
export async function newestRun(base: string, flow: string): Promise<string> {
  const response = await fetch(`${base}/api/v1/runs?limit=1&q=flow:${flow}`);
  const list = (await response.json()) as { items: { id: string }[] }; // the document says so
  const id = list.items[0]?.id;
  if (!id) throw new Error(`the sandbox has no run of ${flow}`);
  return id;
}
