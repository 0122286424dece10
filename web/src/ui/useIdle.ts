import { useEffect, useState } from "react";

let passed = false;

/** Whether the page has had nothing to do once since it was loaded: what the first look does not need is drawn from then on. */
export function useIdle(): boolean {
  const [idle, set] = useState(passed);
  useEffect(() => {
    if (idle) return;
    const done = () => {
      passed = true;
      set(true);
    };
    // Safari has no idle callbacks.
    if (!("requestIdleCallback" in window)) {
      const timer = setTimeout(done, 1000);
      return () => clearTimeout(timer);
    }
    const request = requestIdleCallback(done, { timeout: 3000 });
    return () => cancelIdleCallback(request);
  }, [idle]);
  return idle;
}
