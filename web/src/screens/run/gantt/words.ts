import { count, duration, plural } from "../../../ui/format";
import { wordOf } from "../../../ui/states";
import type { Bar, Row } from "./rows";
import { took } from "./rows";

/** What stands at the right of a row: what the stage added to the run, or how much later it could have ended. */
export function partWords(r: Row): string {
  const p = r.part;
  if (!p || r.status.state === "skipped" || r.status.state === "upstream_failed") return "";
  if (p.critical) return p.added >= 1 ? `added ${duration(p.added / 1000)}` : "critical";
  return p.slack >= 1 ? `slack ${duration(p.slack / 1000)}` : "no slack";
}

/** The same as sentences. */
export function partSentences(r: Row): string[] {
  const p = r.part;
  if (!p || r.status.state === "skipped" || r.status.state === "upstream_failed") return [];
  if (p.critical) {
    const after = p.after ? ` after ${p.after} had ended` : " after the run was created";
    return [p.expected ? `It is expected to be on the critical path: it ends ${duration(p.added / 1000)}${after}.` : `On the critical path: it ended ${duration(p.added / 1000)}${after}, and that is what it added to the run.`];
  }
  if (p.slack < 1) return [p.expected ? "A delay is expected to delay the run." : "Had it ended later, so had the run."];
  return [p.expected ? `It may end ${duration(p.slack / 1000)} later without delaying the run, by what is usual.` : `It could have ended ${duration(p.slack / 1000)} later without delaying the run.`];
}

/** What a bar stands for: "running, attempt 2: failed". */
export function barWords(b: Bar): string {
  const attempt = b.attempt !== undefined && (b.attempt > 1 || (b.outcome !== undefined && b.outcome !== "succeeded")) ? `, attempt ${b.attempt}` : "";
  const outcome = b.outcome !== undefined && b.outcome !== "succeeded" ? `: ${wordOf(b.outcome)}` : "";
  return `${b.phase}${attempt}${outcome}`;
}

/** The shards of a stage in words: "1,200 of 2,000 shards, 3 dead". */
export function shardWords({ status }: Row): string {
  if (status.kind !== "sharded") return "";
  if (status.total < 0) return "its shards are not known yet";
  const more = [status.in_flight > 0 && `${count(status.in_flight)} in flight`, status.ready > 0 && `${count(status.ready)} ready`, status.dead > 0 && `${count(status.dead)} dead`, status.parked > 0 && `${count(status.parked)} parked`];
  return [`${count(status.succeeded)} of ${plural(status.total, "shard")} succeeded`, ...more.filter(Boolean)].join(", ");
}

/** How long the stage took against what is usual: "took 4m 05s, usually 2m 10s". */
export function tookWords(r: Row, now: number): string {
  const ms = took(r, now);
  if (ms === undefined) return "not ready yet";
  const usual = r.usual === undefined ? "" : `, usually ${duration(r.usual / 1000)}`;
  return `${r.end === undefined ? "has taken" : "took"} ${duration(ms / 1000)}${usual}`;
}

/** What a row says to screen readers beyond what can be seen of it. */
export const rowWords = (r: Row, now: number): string => [tookWords(r, now), shardWords(r)].filter(Boolean).join(", ");

/** How many shards ran at a time, and how many failed in that step; undefined outside of the density band. */
export function densityAt(r: Row, at: number): { running: number; failed: number } | undefined {
  const d = r.density;
  if (!d) return undefined;
  const i = Math.floor((at - d.from) / d.step);
  const running = d.running[i];
  return running === undefined ? undefined : { running, failed: d.failed[i] ?? 0 };
}
