import { useSyncExternalStore } from "react";

/** How the page looks; `system` follows the reader's system. */
export type Theme = "light" | "dark" | "system";

/** public/first.js reads it before the first paint. */
const key = "ax.theme";
const watchers = new Set<() => void>();

/** The theme that was chosen. */
export function theme(): Theme {
  try {
    const stored = localStorage.getItem(key);
    if (stored === "light" || stored === "dark") return stored;
  } catch {
    // Storage is switched off: the document still knows.
    const shown = document.documentElement.dataset["theme"];
    if (shown === "light" || shown === "dark") return shown;
  }
  return "system";
}

/** Chooses a theme, at once and for the next visit. */
export function setTheme(next: Theme): void {
  if (next === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = next;
  try {
    if (next === "system") localStorage.removeItem(key);
    else localStorage.setItem(key, next);
  } catch {
    // The choice lasts as long as the page.
  }
  for (const w of watchers) w();
}

/** The theme, for components. */
export const useTheme = (): Theme =>
  useSyncExternalStore((changed) => {
    watchers.add(changed);
    return () => watchers.delete(changed);
  }, theme);
