import { layOut } from "./layout";
import type { Layout, Shape } from "./shape";

/** Up to so many boxes the layout is made at once: it takes less time than a worker takes to start. */
const small = 30;

/** It is part of the key: stored layouts of another way of drawing must not be used. */
const edition = 2;

/** A version's layout never changes, so it is kept as long as the page, and in the session's storage for the next one. */
const known = new Map<string, Promise<Layout>>();
const done = new Map<string, Layout>();

const storageKey = (key: string): string => `ax.layout.${edition}.${key}`;

/** The layout of a key if it is there without waiting. */
export function layoutNow(key: string, shape: Shape): Layout | undefined {
  const there = done.get(key);
  if (there) return there;
  if (shape.nodes.length <= small) {
    const layout = layOut(shape);
    done.set(key, layout);
    return layout;
  }
  try {
    const text = sessionStorage.getItem(storageKey(key));
    if (!text) return undefined;
    // What this page has stored under this edition is a layout.
    const layout = JSON.parse(text) as Layout;
    done.set(key, layout);
    return layout;
  } catch {
    return undefined;
  }
}

/** The layout of a shape, made by the worker once a key. Where workers cannot be had it is made here. */
export function layoutOf(key: string, shape: Shape): Promise<Layout> {
  const there = layoutNow(key, shape);
  if (there) return Promise.resolve(there);
  let coming = known.get(key);
  if (!coming) {
    coming = ask(key, shape).then((layout) => {
      done.set(key, layout);
      try {
        sessionStorage.setItem(storageKey(key), JSON.stringify(layout));
      } catch {
        // The storage is full or switched off: it is made again after the next load.
      }
      return layout;
    });
    known.set(key, coming);
    coming.catch(() => known.delete(key));
  }
  return coming;
}

let worker: Worker | undefined;
const waiting = new Map<string, { good: (layout: Layout) => void; bad: (error: Error) => void }>();

async function ask(key: string, shape: Shape): Promise<Layout> {
  if (typeof Worker === "undefined") return layOut(shape);
  if (!worker) {
    worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<{ key: string; layout?: Layout; error?: string }>) => {
      const w = waiting.get(data.key);
      waiting.delete(data.key);
      if (data.layout) w?.good(data.layout);
      else w?.bad(new Error(data.error));
    });
    worker.addEventListener("error", () => {
      for (const w of waiting.values()) w.bad(new Error("the layout worker could not be started"));
      waiting.clear();
      worker = undefined;
    });
  }
  const w = worker;
  return new Promise<Layout>((good, bad) => {
    waiting.set(key, { good, bad });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that of a worker has no origin
    w.postMessage({ key, shape });
  });
}
