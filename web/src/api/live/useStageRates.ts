import { useEffect, useMemo } from "react";
import { useNow } from "../../ui/now";
import type { Schemas } from "../client";
import { Rates } from "./rates";

/** Of the runs that were looked at last, so that changing the view does not lose what was seen. */
const known = new Map<string, Rates>();
const mostRuns = 20;

function ratesOf(run: string): Rates {
  const rates = known.get(run) ?? new Rates();
  known.delete(run);
  known.set(run, rates);
  for (const oldest of known.keys()) {
    if (known.size <= mostRuns) break;
    known.delete(oldest);
  }
  return rates;
}

/**
 * How many shards of each stage end a second now, by name, from the counts of `runQuery` as the stream changes them. Stages that do
 * not run, or were watched for less than a second, are left out.
 */
export function useStageRates(detail: Schemas["RunDetail"]): ReadonlyMap<string, number> {
  const run = detail.run.id;
  const going = detail.run.state === "running" || detail.run.state === "cancelling";
  const now = useNow(going);
  useEffect(() => {
    const rates = ratesOf(run);
    for (const s of detail.stages) if (s.state === "running") rates.tell(`${s.name}/${s.generation}`, Date.now(), s.succeeded + s.dead);
  }, [run, detail]);
  return useMemo(() => {
    const out = new Map<string, number>();
    const rates = known.get(run);
    if (!rates || !going) return out;
    for (const s of detail.stages) {
      const rate = s.state === "running" ? rates.rate(`${s.name}/${s.generation}`, now) : undefined;
      if (rate !== undefined) out.set(s.name, rate);
    }
    return out;
  }, [run, detail, going, now]);
}
