import type { Schemas } from "../../api/client";
import type { Mark } from "../../ui/Meter";
import type { Tone } from "../../ui/states";

type Queue = Schemas["Queue"];

/** The queues that a search finds: by name, or by `paused`, `pressure` and `limited`. Several words must all hold. */
export function matches(q: Queue, search: string): boolean {
  return search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .every((word) => q.name.toLowerCase().includes(word) || (word === "paused" && q.hold !== undefined) || (word === "pressure" && q.pressure !== "normal") || (word === "limited" && (q.capacity > 0 || q.concurrency > 0)));
}

/** How a queue's pressure looks and reads. Where there is no capacity there is none. */
export function pressureOf(q: Queue): { tone: Tone; word: string; says: string } | undefined {
  if (q.capacity === 0) return undefined;
  switch (q.pressure) {
    case "normal":
      return { tone: "succeeded", word: "normal", says: `The depth is below ${percent(q.alert_at)} of the capacity` };
    case "alert":
      return { tone: "retrying", word: "alert", says: `${q.low_level} and below are demoted` };
    case "refuse":
      return { tone: "failed", word: "refusing", says: `Starts of levels below ${q.core_level} are refused` };
    case "pause":
      return { tone: "paused", word: "pausing", says: `${q.low_level} and below pause until the depth is below ${percent(q.resume_at)}` };
  }
}

/** Where pressure begins, on the bar of depth over capacity. */
export const marksOf = (q: Queue): Mark[] => [
  { at: q.alert_at, name: "alert" },
  { at: q.refuse_at, name: "refuse" },
  { at: q.pause_at, name: "pause" },
];

/** The colour of the depth's bar. */
export const depthTone = (q: Queue): "plain" | "warn" | "bad" => (q.depth >= q.refuse_at * q.capacity ? "bad" : q.depth >= q.alert_at * q.capacity ? "warn" : "plain");

/** A share as a percentage without needless digits: 60 %, 33.3 %. */
export const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;
