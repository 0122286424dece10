import type { QueryKey } from "@tanstack/react-query";
import type { Schemas } from "../api/client";
import type { Verb } from "./verbs";

/** What the dialog passes to the API. `dry_run` asks; the other fields are there if the verb has them. */
export interface ActInput {
  dry_run: boolean;
  reason?: string;
  force?: boolean;
  level?: Schemas["Level"];
  declared?: boolean;
  output?: unknown;
  stage?: string;
  canary?: number;
  per_second?: number;
}

/** An act that the dialog can ask about and do. */
export interface ActRequest {
  /** The dialog's title: "Cancel run 01937f2e…398f". */
  title: string;
  /** What it is done to, in the toast: "run 01937f2e…398f". */
  target: string;
  verb: Verb;
  /** Calls the API; it rejects with a `Refusal`. */
  run: (act: ActInput) => Promise<Schemas["ActResult"] | Schemas["BulkResult"] | Schemas["Replay"]>;
  /** What of the cache it makes stale. */
  stale: readonly QueryKey[];
  /** The dialog stays open after the act and shows what became of each run. */
  report?: boolean;
  /** Called after the act. */
  done?: () => void;
}
