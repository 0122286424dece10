import type { Schemas } from "../../api/client";
import { count, duration, plural } from "../../ui/format";
import type { StagePair, StageSide } from "./compare";

/** A difference in time in words: "14m 00s longer", "2.0s shorter", "as long". Differences within 1 % and a tenth of a second are none. */
export function longer(before: number, after: number): string {
  const d = after - before;
  if (Math.abs(d) < Math.max(100, before * 0.01)) return "as long";
  return `${duration(Math.abs(d) / 1000)} ${d > 0 ? "longer" : "shorter"}`;
}

/** How many times as much: "3.2×". */
export const times = (before: number, after: number): string => {
  const f = after / before;
  return `${f >= 9.95 ? Math.round(f) : f.toFixed(1)}×`;
};

/** The durations of a stage's attempts in both runs, where they were read. */
export interface Pace {
  before: Schemas["Durations"] | undefined;
  after: Schemas["Durations"] | undefined;
}

/** What a stage's difference comes from, in words, what explains most first; empty where nothing stands out. */
export function reasons({ before, after }: StagePair, pace?: Pace): string[] {
  if (!before || !after) return [];
  const out: string[] = [];
  const a = before.status;
  const b = after.status;
  if (a.state !== b.state) out.push(`${words(b.state)}, not ${words(a.state)}`);
  if (a.total >= 0 && b.total >= 0 && a.total !== b.total) out.push(`${plural(b.total, "shard")} against ${count(a.total)}`);
  const p95 = [pace?.before?.p95_s, pace?.after?.p95_s] as const;
  if (p95[0] !== undefined && p95[1] !== undefined && p95[0] > 0 && (p95[1] / p95[0] >= 1.25 || p95[1] / p95[0] <= 0.8)) out.push(`p95 ${times(p95[0], p95[1])} as long (${duration(p95[1])} against ${duration(p95[0])})`);
  if (before.queued !== undefined && after.queued !== undefined && Math.abs(after.queued - before.queued) >= 1000) out.push(`queued ${longer(before.queued, after.queued)}`);
  const f = failures(before, after);
  if (f) out.push(f);
  if (a.dead !== b.dead) out.push(`${count(b.dead)} dead against ${count(a.dead)}`);
  return out;
}

function failures(before: StageSide, after: StageSide): string | undefined {
  if (before.failed === undefined || after.failed === undefined || before.failed === after.failed) return undefined;
  return `${plural(after.failed, "failed attempt")} against ${count(before.failed)}`;
}

const words = (state: string): string => state.replaceAll("_", " ");

/** One stage in a sentence: "load-orders took 14m 00s longer: 2,000 shards against 1,200, p95 3.2× as long (…)". */
export function sentence(pair: StagePair, pace?: Pace): string {
  const { name, before, after } = pair;
  if (!before) return `${name} is new: the other run has no such stage.`;
  if (!after) return `${name} is gone: only the other run has it.`;
  const why = reasons(pair, pace);
  const tail = why.length > 0 ? `: ${why.join(", ")}` : "";
  if (before.took === undefined && after.took === undefined) return `${name} did not run in either${tail}.`;
  if (before.took === undefined) return `${name} took ${duration((after.took ?? 0) / 1000)}; it did not run in the other${tail}.`;
  if (after.took === undefined) return `${name} did not run; it took ${duration(before.took / 1000)} in the other${tail}.`;
  const d = longer(before.took, after.took);
  return `${name} took ${d === "as long" ? "about as long" : d.replace("shorter", "less")}${tail}.`;
}

/** The whole comparison in a sentence or two: the difference of the runs, and what contributed most to it. */
export function summary(before: number, after: number, list: readonly StagePair[], pace: ReadonlyMap<string, Pace>): string {
  const d = longer(before, after);
  const first = d === "as long" ? `Both took about ${duration(after / 1000)}.` : `It took ${duration(after / 1000)}, ${d.replace("shorter", "less")} than the other (${duration(before / 1000)}).`;
  // What went the same way as the whole contributed; without a difference of the whole, what moved most is named.
  const top = list.find((p) => p.difference !== undefined && Math.abs(p.difference) >= 100 && (d === "as long" || Math.sign(p.difference) === Math.sign(after - before)));
  return top ? `${first} ${sentence(top, pace.get(top.name))}` : first;
}
