import { layOut } from "./layout";
import type { Shape } from "./shape";

// Layouts of large graphs take seconds: they are made here, away from what the reader does.
self.addEventListener("message", ({ data }: MessageEvent<{ key: string; shape: Shape }>) => {
  let result;
  try {
    result = { key: data.key, layout: layOut(data.shape) };
  } catch (error) {
    result = { key: data.key, error: String(error) };
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that of a worker has no origin
  self.postMessage(result);
});
