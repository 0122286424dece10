import { useSyncExternalStore } from "react";

/** One clock for everything that shows an age, so that a page of rows makes one timer and all of them change together. */
function ticker(everyMs: number) {
  const listeners = new Set<() => void>();
  let now = Date.now();
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    subscribe(changed: () => void) {
      listeners.add(changed);
      timer ??= setInterval(() => {
        now = Date.now();
        for (const l of listeners) l();
      }, everyMs);
      return () => {
        listeners.delete(changed);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    // Between ticks the value must not change, or React draws again and again; without a tick it is the time of asking, to the second.
    get: () => (timer === undefined ? (now = Math.floor(Date.now() / everyMs) * everyMs) : now),
  };
}

const seconds = ticker(1000);

/** The time in ms, once a second. `on` false stops the clock for this component, for runs that have ended. */
export function useNow(on = true): number {
  return useSyncExternalStore(on ? seconds.subscribe : never, on ? seconds.get : zero);
}

const never = () => () => {};
const zero = () => 0;
