import type { Schemas } from "../../api/client";
import { count, duration, percent, plural, rate } from "../../ui/format";
import { heat, late } from "./lateness";

/** `bad`: work stops or piles up. `warn`: it goes on, and somebody should look. `ok`: it is healthy and keeps up. */
export type Mood = "ok" | "warn" | "bad";

/** The answer to "is it healthy, and is it keeping up?" */
export interface Health {
  mood: Mood;
  /** A few words: the answer. */
  title: string;
  /** The figures that it rests on. */
  detail: string;
}

type Overview = Schemas["Overview"];

/** The answer in words, the worst first: who leads, who works, what is switched off, what falls behind, what needs a look. */
export function health(o: Overview): Health {
  const queues = o.queues ?? [];
  const waiting = queues.reduce((sum, q) => sum + q.depth, 0);
  const more = queues.some((q) => q.at_least) ? "+" : "";
  const tasks = `${count(waiting)}${more} ${waiting === 1 && !more ? "task" : "tasks"}`;
  if ((o.leader && !o.leader.leading) || has(o, "no_leader")) {
    const since = o.leader && o.leader.epoch > 0 ? `the lease was last renewed ${duration(o.leader.beat_age_s)} ago` : "no engine has ever led";
    return { mood: "bad", title: "Nobody leads", detail: `${sentence(since)}. No work is handed out and no stage is decided until an engine runs.` };
  }
  if (has(o, "no_workers") || (o.workers && o.workers.count - o.workers.draining <= 0)) {
    if (waiting > 0 || has(o, "no_workers")) return { mood: "bad", title: "No worker takes work", detail: `${sentence(tasks)} ${waiting === 1 ? "waits" : "wait"}. Start a worker that has the flows’ code.` };
    return { mood: "warn", title: "No worker is there", detail: "Nothing waits now. What is started will wait for a worker." };
  }
  const off = o.attention.find((a) => a.kind === "switch_off");
  if (off) return { mood: "bad", title: "A kill switch is engaged", detail: stop(off.text) };
  const behind = queues.filter((q) => !q.paused && q.levels.some(late));
  const stuck = behind.filter((q) => q.drain_s === undefined);
  const worst = oldest(stuck) ?? oldest(behind);
  if (worst) {
    const name = `queue ${worst.queue} has ${count(worst.depth)}${worst.at_least ? "+" : ""} waiting, the oldest for ${duration(worst.oldest_s)}`;
    const others = behind.length > 1 ? ` ${plural(behind.length - 1, "more queue is late", "more queues are late")}.` : "";
    if (stuck.length > 0) return { mood: "bad", title: "Falling behind", detail: `${sentence(name)}, and ${worst.rate_per_s > 0 ? `more comes than the ${rate(worst.rate_per_s)} that finish` : "nothing finishes"}.${others}` };
    return { mood: "warn", title: "Late, and catching up", detail: `${sentence(name)}; at ${rate(worst.rate_per_s)} it is empty in about ${duration(worst.drain_s ?? 0)}.${others}` };
  }
  const urgent = o.attention.filter((a) => a.rank <= 4);
  const first = urgent[0];
  if (first) {
    const others = urgent.length > 1 ? ` ${plural(urgent.length - 1, "more thing needs", "more things need")} a look.` : "";
    return { mood: "warn", title: "Keeping up, but something needs a look", detail: stop(sentence(first.text)) + others };
  }
  if (o.workers && o.workers.silent > 0) return { mood: "warn", title: "Keeping up, but a worker is silent", detail: `${plural(o.workers.silent, "worker has", "workers have")} not been heard of for more than 6 s.` };
  const figures = [pace(queues), o.workers ? room(o.workers) : ""].filter((f) => f !== "");
  if (waiting === 0) return { mood: "ok", title: "Healthy, and nothing waits", detail: figures.length > 0 ? `${sentence(figures.join("; "))}.` : "Nothing needs a look." };
  const age = Math.max(...queues.map((q) => q.oldest_s));
  return { mood: "ok", title: "Healthy and keeping up", detail: `${sentence([`${tasks} waiting, the oldest for ${duration(age)}`, ...figures].join("; "))}.` };
}

const has = (o: Overview, kind: Schemas["Attention"]["kind"]): boolean => o.attention.some((a) => a.kind === kind);

const hot = (q: Schemas["QueueBacklog"]): number => Math.max(0, ...q.levels.map((l) => heat(l.level, l.depth, l.oldest_s)));

/** The queue whose work is the most too late, by the allowance of its level. */
function oldest(queues: readonly Schemas["QueueBacklog"][]): Schemas["QueueBacklog"] | undefined {
  return queues.toSorted((a, b) => hot(b) - hot(a) || b.oldest_s - a.oldest_s)[0];
}

function pace(queues: readonly Schemas["QueueBacklog"][]): string {
  const sum = queues.reduce((s, q) => s + q.rate_per_s, 0);
  return sum > 0 ? `${rate(sum)} finish` : "";
}

/** How much room the workers have. Each handler has slots of its own, so the busiest one says where it is tight. */
function room(w: Schemas["WorkerFigures"]): string {
  if (w.busiest === undefined) return `none of ${plural(w.slots, "slot")} used`;
  return `the busiest handler is ${w.busiest}, which uses ${w.saturation >= 1 ? "all" : percent(w.saturation, 1)} of its slots`;
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const stop = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
