import type { Schemas } from "../../api/client";
import { lettersOf, stageParts, type Part, type Tone } from "../../ui/states";

/** A run's stages together. */
export interface Totals {
  /** Tasks by tone, over all stages whose shards are known. */
  parts: Part[];
  /** Tasks that have succeeded, and all that are known: an unsharded stage is one. */
  done: number;
  total: number;
  dead: number;
  /** Stages that are decided, and all. */
  decided: number;
  stages: number;
  /** Stages whose shards are not known yet. */
  unknown: number;
}

const undecided: ReadonlySet<Schemas["StageState"]> = new Set(["waiting", "planning", "running", "cancelling"]);

/** Adds the stages of a run up. */
export function totalsOf(stages: readonly Schemas["StageStatus"][]): Totals {
  const sums = new Map<Tone, number>();
  const out: Totals = { parts: [], done: 0, total: 0, dead: 0, decided: 0, stages: stages.length, unknown: 0 };
  for (const s of stages) {
    if (!undecided.has(s.state)) out.decided++;
    // An unsharded stage that waits is one task all the same.
    const total = s.total >= 0 ? s.total : s.kind === "single" ? 1 : -1;
    if (total < 0) {
      // Decided without ever having shards: there is nothing to come.
      if (undecided.has(s.state)) out.unknown++;
      continue;
    }
    out.total += total;
    out.done += s.succeeded;
    out.dead += lettersOf(s);
    for (const p of stageParts({ ...s, total })) sums.set(p.tone, (sums.get(p.tone) ?? 0) + p.count);
  }
  out.parts = [...sums].map(([tone, count]) => ({ tone, count, ...(tone === "failed" ? { label: "dead" } : {}) }));
  return out;
}

/** What an explanation may say anew: the states of the run and its stages, and how much has failed; not what merely goes on. */
export const stamp = ({ run, stages }: Pick<Schemas["RunDetail"], "run" | "stages">): string => `${run.state} ${run.paused ?? false} ${stages.map((s) => `${s.state}${s.dead}${s.generation}`).join(" ")}`;
