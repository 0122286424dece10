import type { Browser } from "playwright-core";
import { firstPaint, frames, newestRun, pass, probe, round, seen } from "./probe";

/** Measures the page of a run of 500 stages while it runs. Interactive is when the first stage is seen, which can be clicked from then on. */
export async function measureGraph(browser: Browser, base: string): Promise<Record<string, number>> {
  const run = await newestRun(base, "wide-500");
  const p = await probe(browser);
  const node = p.page.locator(".react-flow__node").first();
  await p.page.goto(`${base}/runs/${run}`, { waitUntil: "commit" });
  const interactive = await seen(p.page, ".react-flow__node button");
  await node.click({ trial: true });
  const paint = await firstPaint(p.page);
  const bytes = p.shipped();
  const before = p.streamed();
  const idle = await frames(p.page, () => pass(10_000));
  const stream = (p.streamed() - before) / 10;
  const box = await p.page.locator(".react-flow").boundingBox();
  if (!box) throw new Error("the graph is not drawn");
  const panning = await frames(p.page, async () => {
    const [x, y] = [box.x + box.width / 2, box.y + 12];
    await p.page.mouse.move(x, y);
    await p.page.mouse.down();
    for (let i = 0; i < 120; i++) await p.page.mouse.move(x - i * 4, y + Math.sin(i / 8) * 60);
    await p.page.mouse.up();
  });
  await p.close();
  console.log(`500 stages: first paint ${paint} ms, interactive ${interactive} ms, ${round(bytes / 1000)} kB; live ${idle.fps} frames/s (longest ${idle.worst} ms), panned ${panning.fps} frames/s (longest ${panning.worst} ms), ${Math.round(stream)} B/s on the stream`);
  return {
    graph_paint_ms: paint,
    graph_interactive_ms: interactive,
    graph_kb: round(bytes / 1000),
    graph_live_fps: idle.fps,
    graph_pan_fps: panning.fps,
    graph_stream_bytes_per_s: Math.round(stream),
  };
}
