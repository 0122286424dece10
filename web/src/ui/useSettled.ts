import { useEffect, useState } from "react";

/** The value when it has not changed for a moment, so that what is typed is asked about when the typing pauses and not at each key. */
export function useSettled(value: string, ms = 250): string {
  const [settled, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
