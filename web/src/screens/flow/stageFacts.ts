import type { Schemas } from "../../api/client";
import { duration } from "../../ui/format";

/** How often a stage is tried, and how long it waits between attempts. */
export function retryText(retry: Schemas["GraphStage"]["retry"]): string {
  const { max_attempts, initial_interval_s: first, backoff_coefficient: factor, maximum_interval_s: most } = retry;
  if (max_attempts <= 1) return "no retry";
  const waits = first === undefined ? "" : `, after ${duration(first)}${factor !== undefined && factor !== 1 ? ` ×${factor}` : ""}${most === undefined ? "" : ` up to ${duration(most)}`}`;
  return `${max_attempts} attempts${waits}`;
}

const one = (name: string, s: number | undefined): string[] => (s === undefined || s === 0 ? [] : [`${name} ${duration(s)}`]);

/** The time-outs of a stage that are set. */
export function timeoutText(t: Schemas["GraphStage"]["timeout"]): string {
  return [...one("execution", t.execution_s), ...one("dispatch", t.dispatch_s), ...one("overall", t.overall_s), ...one("heartbeat", t.heartbeat_s)].join(", ") || "none";
}

/** What else is particular to a stage, as short words. */
export function traits(s: Schemas["GraphStage"]): string[] {
  return [
    s.kind === "sharded" ? (s.aligned_to ? `sharded, aligned to ${s.aligned_to}` : "sharded") : undefined,
    s.child && `runs flow ${s.child}`,
    s.teardown_of && `teardown of ${s.teardown_of}`,
    s.limit && `limit ${s.limit}`,
    s.rate && `rate ${s.rate}`,
    s.key && `key ${s.key}`,
    s.routing && `routing ${s.routing}`,
    s.requires?.length && `requires ${s.requires.join(", ")}`,
    s.prefers?.length && `prefers ${s.prefers.join(", ")}`,
    s.downstreams?.length && `depends on ${s.downstreams.join(", ")}`,
    s.breaker && "circuit breaker",
    s.conditional && "conditional",
    s.fail_fast && "fail fast",
    s.uninterruptible && "uninterruptible",
    s.tx && "transactional",
    s.disabled && "disabled",
  ].filter((t) => typeof t === "string" && t !== "") as string[]; // what is left are texts
}
