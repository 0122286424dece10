import type { Schemas } from "../api/client";
import { toneOf, wordOf, type AnyState, type Part } from "../ui/states";

/** The parts of a run's bar: its stages by state. A run of an older server, or without stages, has none. */
export function tallyParts(stages: Schemas["Run"]["stages"]): Part[] {
  return Object.entries(stages ?? {}).flatMap(([state, count]) => (isState(state) && count > 0 ? [{ tone: toneOf(state), count, label: wordOf(state) }] : []));
}

/** How many stages are decided, and how many there are. */
export function decided(stages: Schemas["Run"]["stages"]): { done: number; all: number } {
  let done = 0;
  let all = 0;
  for (const [state, count] of Object.entries(stages ?? {})) {
    all += count;
    if (!undecided.has(state)) done += count;
  }
  return { done, all };
}

const undecided: ReadonlySet<string> = new Set(["waiting", "planning", "running", "cancelling"]);

const states: ReadonlySet<string> = new Set<Schemas["StageState"]>(["waiting", "planning", "running", "cancelling", "succeeded", "failed", "cancelled", "skipped", "upstream_failed"]);

const isState = (s: string): s is AnyState => states.has(s);
