import type { Schemas } from "../api/client";

/** How a state looks: one of these tones (a colour pair of tokens.css) with a shape of its own. */
export type Tone = "succeeded" | "running" | "queued" | "waiting" | "retrying" | "failed" | "cancelled" | "skipped" | "paused";

/** Every state that the API has of runs, stages and shards, outcomes of attempts included. */
export type AnyState = Schemas["RunState"] | Schemas["StageState"] | Schemas["ShardState"] | Schemas["Outcome"] | "paused";

const tones: Record<AnyState, Tone> = {
  waiting: "waiting",
  aligned: "waiting",
  planning: "running",
  running: "running",
  in_flight: "running",
  child: "running",
  ready: "queued",
  delayed: "queued",
  retrying: "retrying",
  cancelling: "cancelled",
  succeeded: "succeeded",
  failed: "failed",
  dead: "failed",
  expired: "failed",
  timed_out: "failed",
  lost: "failed",
  upstream_failed: "skipped",
  skipped: "skipped",
  not_needed: "skipped",
  discarded: "skipped",
  cancelled: "cancelled",
  interrupted: "cancelled",
  paused: "paused",
};

/** The tone of a state. */
export const toneOf = (state: AnyState): Tone => tones[state];

const words: Partial<Record<AnyState, string>> = {
  in_flight: "in flight",
  upstream_failed: "upstream failed",
  timed_out: "timed out",
  not_needed: "not needed",
  child: "child run",
};

/** A state in words, as the CLI writes it. */
export const wordOf = (state: AnyState): string => words[state] ?? state;

/** The order of tones in bars and legends: what is done, what goes on, what waits, what failed. */
export const toneOrder: readonly Tone[] = ["succeeded", "running", "retrying", "queued", "waiting", "paused", "cancelled", "skipped", "failed"];

/** How many shards of a stage are dead letters: those that failed for good by themselves. */
export const lettersOf = (s: Pick<Schemas["StageStatus"], "dead" | "upstream_failed">): number => s.dead - (s.upstream_failed ?? 0);

/** The parts of a stage's bar: shards by tone. A stage whose shards are not known yet has none. */
export function stageParts(s: Pick<Schemas["StageStatus"], "total" | "succeeded" | "ready" | "in_flight" | "dead" | "upstream_failed" | "parked" | "state">): Part[] {
  const parked: Tone = s.state === "cancelled" || s.state === "cancelling" ? "cancelled" : s.state === "skipped" || s.state === "upstream_failed" || s.state === "succeeded" ? "skipped" : "waiting";
  const upstream = s.upstream_failed ?? 0;
  const known = s.succeeded + s.in_flight + s.ready + s.dead + s.parked;
  const parts: Part[] = [
    { tone: "succeeded", count: s.succeeded },
    { tone: "running", count: s.in_flight },
    { tone: "queued", count: s.ready },
    { tone: parked, count: s.parked + Math.max(0, s.total - known) + (parked === "skipped" ? upstream : 0) },
    { tone: "skipped", count: parked === "skipped" ? 0 : upstream, label: "upstream failed" },
    { tone: "failed", count: lettersOf(s) },
  ];
  return parts.filter((p) => p.count > 0);
}

/** A part of a segmented bar. */
export interface Part {
  tone: Tone;
  count: number;
  /** What it is called where that is not the tone. */
  label?: string;
}
