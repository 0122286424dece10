import { useMemo, useState } from "react";
import { ZoneContext, zoneName, type Zone } from "../ui/zone";

const key = "ax.zone";

/** A zone that somebody stored, if this browser knows it. */
function stored(): Zone {
  try {
    const zone = localStorage.getItem(key) ?? "local";
    // It throws where the zone is unknown. Nothing is asked about those that always are: Intl is slow the first time.
    if (zone !== "local" && zone !== "utc") new Intl.DateTimeFormat("en", { timeZone: zoneName(zone) }).format(0);
    return zone;
  } catch {
    return "local";
  }
}

/** Holds the zone that times are shown in; it is kept for the next visit. */
export function ZoneProvider({ children }: { children: React.ReactNode }) {
  const [zone, set] = useState(stored);
  const value = useMemo(
    () => ({
      zone,
      setZone: (next: Zone) => {
        set(next);
        try {
          localStorage.setItem(key, next);
        } catch {
          // Storage is switched off: the choice lasts as long as the page.
        }
      },
    }),
    [zone],
  );
  return <ZoneContext value={value}>{children}</ZoneContext>;
}
