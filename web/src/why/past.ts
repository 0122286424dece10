import type { Schemas } from "../api/client";
import type { AnyState } from "../ui/states";

/** Why something ran and how often, as engine/explain writes it; openapi.yaml leaves its fields open. */
export interface Past {
  why?: string;
  generation?: number;
  results?: number;
  workers?: number;
  attempts?: number;
  partial?: boolean;
  last?: PastAttempt[];
  acts?: PastAct[];
}

export interface PastAttempt {
  generation: number;
  attempt: number;
  delivery: number;
  outcome: Schemas["Outcome"];
  worker: string;
  started_at: string;
  finished_at: string;
  waited_s: number;
  error?: string;
}

export interface PastAct {
  at: string;
  kind: string;
  stage?: string;
  actor: string;
  reason?: string;
}

/** The past of an explanation. */
export const pastOf = (e: Schemas["Explanation"]): Past => e.past ?? {}; // every field is optional, so an object of any shape is one

const states: Record<AnyState, true> = {
  waiting: true, aligned: true, planning: true, running: true, in_flight: true, child: true, ready: true, delayed: true, retrying: true, cancelling: true, succeeded: true, failed: true, dead: true,
  expired: true, timed_out: true, lost: true, upstream_failed: true, skipped: true, not_needed: true, discarded: true, cancelled: true, interrupted: true, paused: true,
};

/** A state or a fate of an explanation, as one that has a mark; one that this page does not know waits. */
export const stateOf = (text: string): AnyState => (Object.hasOwn(states, text) ? (text as AnyState) : "waiting"); // the table holds every one of them
