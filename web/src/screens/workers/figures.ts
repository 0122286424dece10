import type { Schemas } from "../../api/client";
import type { Tone } from "../../ui/states";

type Worker = Schemas["Worker"];

/** A worker that has not been heard of for longer, in seconds, is silent: it is taken for dead and its work is handed out again. */
export const silentAfter = 6;

/** How a worker is: what it said last, or that it says nothing. */
export type Condition = "active" | "draining" | "silent";

/** How long a worker has said nothing, in seconds. `readAt` is the database's time (ms) at which the list was read. */
export const beatAge = (w: Pick<Worker, "seen_at">, readAt: number): number => Math.max(0, (readAt - new Date(w.seen_at).getTime()) / 1000);

/** How a worker was when the list was read. */
export const conditionOf = (w: Worker, readAt: number): Condition => (beatAge(w, readAt) > silentAfter ? "silent" : w.state);

/** The shape and colour of a condition. */
export const toneOfCondition: Record<Condition, Tone> = { active: "succeeded", draining: "paused", silent: "failed" };

/** A handler of a worker: of a flow's version, with its slots. */
export interface Handler {
  flow: string;
  stage: string;
  /** The flow's content version, where the worker names it. */
  version: string;
  slots: number;
}

/** The handlers of a worker, by name. Its keys are `flow/stage@version`. */
export function handlersOf(w: Pick<Worker, "handlers">): Handler[] {
  return Object.entries(w.handlers)
    .map(([key, slots]) => {
      const [name = "", version = ""] = key.split("@");
      const cut = name.indexOf("/");
      return { flow: name.slice(0, cut), stage: name.slice(cut + 1), version, slots };
    })
    .sort((a, b) => a.flow.localeCompare(b.flow) || a.stage.localeCompare(b.stage) || a.version.localeCompare(b.version));
}

/** The slots of all handlers of a worker; those for P0 come on top. */
export const slotsOf = (w: Pick<Worker, "handlers">): number => Object.values(w.handlers).reduce((sum, n) => sum + n, 0);

/** The workers that a search finds: by host, pid, id, label, handler, or condition. Several words must all hold. */
export function matches(w: Worker, search: string, readAt: number): boolean {
  const condition = conditionOf(w, readAt);
  return search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .every((word) => condition === word || [w.host, String(w.pid), w.id, ...w.labels, ...Object.keys(w.handlers)].some((text) => text.toLowerCase().includes(word)));
}
