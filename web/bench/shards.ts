import type { Browser, Page } from "playwright-core";
import { firstPaint, frames, heap, newestRun, pass, probe, round, seen, sinceStart, type Probe } from "./probe";

/** How often the run's page is loaded, each time with an empty cache. */
const loads = 7;

/**
 * Measures the pages of a run whose stage of 100,000 shards goes on: the run's own, then the stage's with its heat map, which is
 * left open for some minutes. Interactive is when the heat map answers the pointer.
 */
export async function measureShards(browser: Browser, base: string, minutes: number): Promise<Record<string, number>> {
  const run = await newestRun(base, "huge");
  const times: number[] = [];
  let runKb = 0;
  for (let i = 0; i < loads; i++) {
    const page = await probe(browser);
    await page.page.goto(`${base}/runs/${run}`, { waitUntil: "commit" });
    times.push(await seen(page.page, ".react-flow__node button"));
    await page.page.locator(".react-flow__node").first().click({ trial: true });
    runKb = round(page.shipped() / 1000);
    await page.close();
  }
  const runMs = times.toSorted((a, b) => a - b)[loads >> 1] ?? Number.NaN;
  console.log(`run of 100,000 shards: loaded in ${runMs} ms (median of ${times.join(", ")}), ${runKb} kB`);

  const p = await probe(browser);
  await p.page.goto(`${base}/runs/${run}/stages/crunch`);
  const map = p.page.locator("[data-heatmap]");
  await map.waitFor();
  const interactive = await answered(p.page);
  const paint = await firstPaint(p.page);
  const kb = round(p.shipped() / 1000);
  const hover = await hoverLatency(p.page);
  const streamed = p.streamed();
  const idle = await frames(p.page, () => pass(10_000));
  const stream = Math.round((p.streamed() - streamed) / 10);
  const moving = await frames(p.page, () => wander(p.page, 300));
  const [heapBefore, heapAfter] = await keptOpen(p, minutes);
  await p.close();
  console.log(
    `stage of 100,000 shards: first paint ${paint} ms, interactive ${interactive} ms, ${kb} kB; hover answered within ${hover.p50} ms (p50), ${hover.p95} ms (p95), ${hover.max} ms (longest); ` +
      `live ${idle.fps} frames/s (longest ${idle.worst} ms), pointer moving ${moving.fps} frames/s; ${stream} B/s on the stream; heap ${heapBefore} MB, after ${minutes} min ${heapAfter} MB`,
  );
  return {
    run_load_ms: runMs,
    run_kb: runKb,
    shards_paint_ms: paint,
    shards_interactive_ms: interactive,
    shards_kb: kb,
    hover_p50_ms: hover.p50,
    hover_p95_ms: hover.p95,
    shards_live_fps: idle.fps,
    shards_move_fps: moving.fps,
    shards_stream_bytes_per_s: stream,
    heap_mb: heapBefore,
    heap_after_mb: heapAfter,
  };
}

/** Moves the pointer on the map until the card of a shard appears, and says when that was. */
async function answered(page: Page): Promise<number> {
  const box = await mapBox(page);
  for (let i = 0; ; i++) {
    await page.mouse.move(box.x + 20 + (i % 50) * 6, box.y + 20 + (i % 7) * 6);
    if ((await page.locator("[data-shard-card]").count()) > 0) return sinceStart(page);
    if (i > 2000) throw new Error("the heat map does not answer the pointer");
  }
}

async function mapBox(page: Page): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await page.locator("[data-heatmap]").boundingBox();
  if (!box) throw new Error("the heat map is not drawn");
  return box;
}

/**
 * Time from when the page is told of a move of the pointer to the frame that shows another shard, in ms, of 200 moves. Chromium tells of moves
 * once a frame, right before it draws: below a frame's 16.7 ms, the very frame that could first know of the move shows the answer.
 */
async function hoverLatency(page: Page): Promise<{ p50: number; p95: number; max: number }> {
  const box = await mapBox(page);
  await page.evaluate(() => {
    const card = document.querySelector("[data-shard-card]");
    if (!card) throw new Error("no card");
    const waits: number[] = [];
    Object.assign(window, { axHover: waits });
    let moved = 0;
    document.addEventListener("pointermove", () => (moved ||= performance.now()), { capture: true });
    new MutationObserver(() => {
      if (!moved) return;
      const from = moved;
      moved = 0;
      requestAnimationFrame(() => waits.push(performance.now() - from));
    }).observe(card, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  for (let i = 0; i < 200; i++) {
    await page.mouse.move(box.x + 10 + ((i * 37) % (box.width - 20)), box.y + 10 + ((i * 23) % Math.min(box.height - 20, 300)));
    await pass(40);
  }
  const waits = await page.evaluate(() => (window as unknown as { axHover: number[] }).axHover.toSorted((a, b) => a - b));
  const at = (q: number): number => round(waits[Math.min(waits.length - 1, Math.floor(q * waits.length))] ?? Number.NaN);
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}

async function wander(page: Page, moves: number): Promise<void> {
  const box = await mapBox(page);
  for (let i = 0; i < moves; i++) await page.mouse.move(box.x + 10 + ((i * 5) % (box.width - 20)), box.y + 20 + ((i * 3) % Math.min(box.height - 40, 300)));
}

/** The heap now, and after the page was open for so many minutes. */
async function keptOpen(p: Probe, minutes: number): Promise<[number, number]> {
  const before = await heap(p);
  await pass(minutes * 60_000);
  return [before, await heap(p)];
}
