import type { Schemas } from "../../api/client";

/** Shards of one stage of one run, as one act takes them. */
export interface Part {
  run: string;
  stage: string;
  shards: string;
}

/** Letters by run and stage, their sets put together: one act each. */
export function byStage(letters: readonly Pick<Schemas["DeadLetter"], "run" | "stage" | "shards">[]): Part[] {
  const parts = new Map<string, Part>();
  for (const l of letters) {
    const key = `${l.run}/${l.stage}`;
    const part = parts.get(key);
    if (part) part.shards += `,${l.shards}`;
    else parts.set(key, { run: l.run, stage: l.stage, shards: l.shards });
  }
  return [...parts.values()];
}

/** The first index of a set such as `7,19-23`, for a link to its task. A plan's is -1. */
export const firstOf = (shards: string): string => /^-?\d+/.exec(shards)?.[0] ?? "0";
