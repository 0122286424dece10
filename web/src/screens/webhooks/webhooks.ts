import type { Schemas } from "../../api/client";

/** What a webhook can be told of. */
export const events: readonly { value: Schemas["WebhookEvent"]; label: string; hint?: string }[] = [
  { value: "run.failed", label: "fails" },
  { value: "run.late", label: "is late", hint: "It has not ended when its flow’s deadline comes." },
  { value: "run.cancelled", label: "is cancelled" },
  { value: "run.succeeded", label: "succeeds" },
];

/** The flows of a list with commas. */
export const flowNames = (text: string): string[] => [...new Set(text.split(/[,\s]+/).filter(Boolean))];
