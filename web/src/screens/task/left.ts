import type { Schemas } from "../../api/client";

/**
 * How long a running task has still to go, in seconds, if it goes on as it has so far; undefined while there is too little to tell: no total, nothing
 * done, or less than 5 s.
 */
export function left({ started_at, reported_at, done, total }: Pick<Schemas["Running"], "started_at" | "reported_at" | "done" | "total">, now: number): number | undefined {
  if (done === undefined || total === undefined || done <= 0 || done > total) return undefined;
  const reported = reported_at === undefined ? now : Date.parse(reported_at);
  const took = (reported - Date.parse(started_at)) / 1000;
  if (took < 5) return undefined;
  return Math.max(0, (took / done) * (total - done) - Math.max(0, now - reported) / 1000);
}
