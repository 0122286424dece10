import type { Schemas } from "../../api/client";

/** An attempt as a column shows it. Durations are in ms. */
export interface Try {
  key: string;
  attempt: Schemas["Attempt"];
  /** From the end of the one before to when it was ready: the back-off, or what an operator took; undefined of the first. */
  between: number | undefined;
  /** From when it was ready to when it began. */
  queued: number;
  ran: number;
  /** The first of those before it that failed in the same way, by its number, with its generation if that is another. */
  sameAs: string | undefined;
}

/** The attempts of all generations, the oldest first. */
export function tries(attempts: readonly Schemas["Attempt"][]): Try[] {
  const first = new Map<string, Schemas["Attempt"]>();
  return attempts.map((a, i) => {
    const before = attempts[i - 1];
    const error = a.failure && `${a.failure.code} ${normal(a.failure.message)}`;
    const same = error === undefined ? undefined : first.get(error);
    if (error !== undefined && !same) first.set(error, a);
    const ready = Date.parse(a.ready_at);
    const started = Date.parse(a.started_at);
    return {
      key: `${a.generation}/${a.attempt}/${a.delivery}`,
      attempt: a,
      between: before && before.generation === a.generation ? Math.max(0, ready - Date.parse(before.finished_at)) : undefined,
      queued: Math.max(0, started - ready),
      ran: Math.max(0, Date.parse(a.finished_at) - started),
      sameAs: same && `#${same.attempt}${same.generation === a.generation ? "" : ` of generation ${same.generation}`}`,
    };
  });
}

/** An error's text without what differs from one time to the next: ids, numbers, quoted values. Two errors with the same normal text are the same fault. */
export const normal = (message: string): string =>
  message
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "…")
    .replace(/"[^"]*"|'[^']*'/g, "…")
    .replace(/\b0x[0-9a-f]+\b|\b[0-9a-f]{12,}\b/gi, "…")
    .replace(/\d+/g, "…");
