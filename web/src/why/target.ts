/** What is to be explained: a run, a stage of it, or one shard of that (-1 is the stage's plan). */
export interface WhyTarget {
  run: string;
  stage?: string;
  shard?: number;
}

/** Reads `?why=RUN[/STAGE[/SHARD]]`; undefined if it names nothing. A shard that is no index is left out. */
export function parseWhy(text: string | undefined): WhyTarget | undefined {
  const [run, stage, shard] = (text ?? "").split("/");
  if (!run) return undefined;
  if (!stage) return { run };
  return shard !== undefined && /^(-1|\d+)$/.test(shard) ? { run, stage, shard: Number(shard) } : { run, stage };
}

/** Writes what `parseWhy` reads. */
export const whyOf = (t: WhyTarget): string => [t.run, t.stage, t.stage === undefined ? undefined : t.shard].filter((p) => p !== undefined).join("/");
