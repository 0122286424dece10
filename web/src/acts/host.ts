import { useSyncExternalStore } from "react";
import type { ActRequest } from "./request";

let open: { request: ActRequest; id: number } | undefined;
let id = 0;
const watchers = new Set<() => void>();

function set(next: typeof open): void {
  open = next;
  for (const w of watchers) w();
}

/** Opens the dialog of an act over whatever is shown; the frame holds it, so that it outlives the menu or row that opened it. */
export const act = (request: ActRequest): void => set({ request, id: ++id });

/** Closes the dialog. */
export const closeAct = (): void => set(undefined);

/** The act whose dialog is open. */
export const useOpenAct = (): typeof open =>
  useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => open,
  );
