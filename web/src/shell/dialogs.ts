import { useSyncExternalStore } from "react";

/** What the frame can open over the page. */
export type ShellDialog = "palette" | "shortcuts" | "zone";

let open: ShellDialog | undefined;
const watchers = new Set<() => void>();

/** Opens one of the frame's dialogs, or with undefined closes it. */
export function openShell(next: ShellDialog | undefined): void {
  open = next;
  for (const w of watchers) w();
}

/** The frame's dialog that is open. */
export const useShellDialog = (): ShellDialog | undefined =>
  useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => open,
  );
