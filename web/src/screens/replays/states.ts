import type { Schemas } from "../../api/client";
import type { Tone } from "../../ui/states";

type State = Schemas["Replay"]["state"];

/** How a replay's state looks. */
export const tones: Record<State, Tone> = { canary: "retrying", running: "running", done: "succeeded", stopped: "failed", cancelled: "cancelled" };

/** What a replay's state means. */
export const says: Record<State, string> = {
  canary: "The canary runs. The rest follows when all of it has ended well.",
  running: "Dead letters are moved back to where they run.",
  done: "Everything that matched has been moved. How it ended, its runs say.",
  stopped: "The canary failed: nothing else was moved.",
  cancelled: "It was cancelled. What it had moved went on.",
};

/** It goes on. */
export const going = (r: Pick<Schemas["Replay"], "state">): boolean => r.state === "canary" || r.state === "running";

/** How long the rest takes at the rate that was asked for, in s; undefined where there is no rate or nothing goes on. */
export function leftOf(r: Pick<Schemas["Replay"], "state" | "per_second" | "total" | "moved">): number | undefined {
  return going(r) && r.per_second ? Math.max(0, r.total - r.moved) / r.per_second : undefined;
}

/** What a replay was asked for, as pairs to show. */
export function filterParts(f: Schemas["DeadFilter"]): [name: string, value: string][] {
  const names: [keyof Schemas["DeadFilter"], string][] = [["flow", "flow"], ["stage", "stage"], ["code", "code"], ["fingerprint", "group"], ["run", "run"], ["since", "since"], ["until", "until"]];
  return names.flatMap(([key, name]) => {
    const value = f[key];
    return value ? [[name, value]] : [];
  });
}
