import type { Schemas } from "../../api/client";
import { duration } from "../../ui/format";

/** How often a stage's tasks are tried: "5 attempts, 2.0s, then ×2, up to 30s". */
export function retryWords(retry: Schemas["GraphStage"]["retry"]): string {
  if (retry.max_attempts <= 1) return "none: one attempt";
  const parts = [`${retry.max_attempts} attempts`];
  if (retry.initial_interval_s !== undefined) parts.push(`first after ${duration(retry.initial_interval_s)}`);
  if (retry.backoff_coefficient !== undefined && retry.backoff_coefficient !== 1) parts.push(`then ×${retry.backoff_coefficient}`);
  if (retry.maximum_interval_s !== undefined && retry.backoff_coefficient !== 1) parts.push(`up to ${duration(retry.maximum_interval_s)}`);
  return parts.join(", ");
}

/** A stage's time-outs: "1h 00m to run, 1m 00s to start". */
export function timeoutWords(timeout: Schemas["GraphStage"]["timeout"]): string {
  const parts = [
    timeout.execution_s !== undefined && `${duration(timeout.execution_s)} to run`,
    timeout.dispatch_s !== undefined && `${duration(timeout.dispatch_s)} to start`,
    timeout.heartbeat_s !== undefined && `${duration(timeout.heartbeat_s)} between signs of life`,
    timeout.overall_s !== undefined && `${duration(timeout.overall_s)} in all`,
  ].filter((p) => p !== false);
  return parts.join(", ") || "none";
}
