import type { Schemas } from "../api/client";
import { count, plural } from "../ui/format";

/** What an act did, or would do, in one form for all verbs. */
export interface Outcome {
  touched: readonly Schemas["Touch"][];
  /** Of verbs by filter: each run that matched. */
  runs?: readonly Schemas["BulkRun"][];
  /** More runs match than it was asked to act on. */
  more: boolean;
}

/** Brings the API's answers into one form. */
export function outcomeOf(answer: Schemas["ActResult"] | Schemas["BulkResult"] | Schemas["Replay"]): Outcome {
  if ("runs" in answer) return { touched: answer.runs.flatMap((r) => r.touched), runs: answer.runs, more: answer.more };
  if ("touched" in answer) return { touched: answer.touched, more: false };
  const what = answer.canary && answer.canary < answer.total ? `${plural(answer.total, "dead letter")}: ${count(answer.canary)} first, then the rest` : plural(answer.total, "dead letter");
  return { touched: answer.total > 0 ? [{ what, tasks: answer.total }] : [], more: false };
}

/** How much it touches, in a few words: "12 runs, 3 stages, 1,204 shards"; empty where it touches nothing that is counted so. */
export function extent(outcome: Outcome): string {
  const runs = outcome.runs?.filter((r) => r.touched.length > 0).length ?? 0;
  const stages = new Set(outcome.touched.flatMap((t) => (t.stage === undefined ? [] : `${t.run ?? ""}/${t.stage}`))).size;
  const shards = outcome.touched.reduce((sum, t) => sum + (t.stage === undefined ? 0 : (t.tasks ?? 0)), 0);
  return [outcome.runs && plural(runs, "run"), stages > 0 && plural(stages, "stage"), shards > 0 && plural(shards, "shard")].filter(Boolean).join(", ");
}

/** One line of what happens: what it is about, and what becomes of it. */
export interface Line {
  about: string;
  what: string;
  /** In how many runs. */
  runs: number;
}

/** The lines that say what happens; over many runs the same thing in the same stage is one line. */
export function lines(outcome: Outcome): Line[] {
  const many = (outcome.runs?.length ?? 1) > 1;
  const seen = new Map<string, { line: Line; runs: Set<string>; tasks: number }>();
  for (const t of outcome.touched) {
    // Over many runs, numbers such as attempts differ from one to the next and would make a line for each.
    const what = many ? t.what.replace(/\b\d+\b/g, "…") : t.what;
    const key = many ? JSON.stringify([t.stage, what]) : JSON.stringify([t.stage, t.shards, what]);
    const entry = seen.get(key) ?? { line: { about: "", what, runs: 0 }, runs: new Set<string>(), tasks: 0 };
    entry.tasks += t.tasks ?? 0;
    if (t.run) entry.runs.add(t.run);
    entry.line.about =
      t.stage === undefined ? (t.run === undefined ? "" : "run") : entry.tasks === 0 ? t.stage : `${t.stage} · ${many || t.shards === undefined ? plural(entry.tasks, "shard") : shardsText(t.shards, entry.tasks)}`;
    seen.set(key, entry);
  }
  return [...seen.values()].map((e) => ({ ...e.line, runs: e.runs.size }));
}

function shardsText(set: string, tasks: number): string {
  if (set === "-1") return "plan";
  const short = set.length > 40 ? `${set.slice(0, set.lastIndexOf(",", 40) + 1 || 40)}…` : set;
  return tasks === 1 ? `shard ${short}` : `shards ${short} (${count(tasks)})`;
}

/** Runs on which a verb by filter did not act, by why. */
export function refusals(outcome: Outcome): { detail: string; runs: Schemas["BulkRun"][] }[] {
  const by = new Map<string, Schemas["BulkRun"][]>();
  for (const r of outcome.runs ?? []) {
    if (!r.error) continue;
    // The text names the run; without it the same refusal is the same.
    const detail = r.error.detail.replaceAll(` ${r.run}`, "");
    by.set(detail, [...(by.get(detail) ?? []), r]);
  }
  return [...by].map(([detail, runs]) => ({ detail, runs })).sort((a, b) => b.runs.length - a.runs.length);
}
