import { useSyncExternalStore } from "react";

/**
 * The colours that canvases draw with. A canvas knows no custom properties, and a token's own text is `light-dark(…)`, so each token is
 * put on a hidden element and the colour that the browser makes of it is read back.
 */
export function paints<const T extends string>(within: Element, tokens: readonly T[]): Record<T, string> {
  const probe = document.createElement("span");
  probe.hidden = true;
  within.append(probe);
  const out = Object.fromEntries(
    tokens.map((token) => {
      probe.style.color = `var(${token})`;
      return [token, getComputedStyle(probe).color];
    }),
  );
  probe.remove();
  // Every token of the list has its entry.
  return out as Record<T, string>;
}

let version = 0;
const watchers = new Set<() => void>();
let stop: (() => void) | undefined;

function watch(changed: () => void): () => void {
  watchers.add(changed);
  if (!stop) {
    const tell = () => {
      version++;
      for (const w of watchers) w();
    };
    // The theme is the system's unless the root says another.
    const observer = new MutationObserver(tell);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const media = matchMedia("(prefers-color-scheme: dark)");
    media.addEventListener("change", tell);
    stop = () => {
      observer.disconnect();
      media.removeEventListener("change", tell);
    };
  }
  return () => {
    watchers.delete(changed);
    if (watchers.size > 0) return;
    stop?.();
    stop = undefined;
  };
}

/** A number that changes whenever the theme does: canvases that depend on it draw again with new `paints`. */
export const usePaintVersion = (): number => useSyncExternalStore(watch, () => version);
