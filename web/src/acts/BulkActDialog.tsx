import type { Schemas } from "../api/client";
import { ActDialog } from "./ActDialog";
import { bulkAct } from "./requests";
import type { BulkVerb } from "./verbs";

/** A verb on every run that a filter picks: how many it would touch first, and what became of each after. `act(bulkAct(…))` opens the same. */
export function BulkActDialog({ filter, verb, which, onClose }: { filter: Schemas["RunFilter"]; verb: BulkVerb; which: string; onClose: () => void }) {
  return <ActDialog {...bulkAct(filter, verb, which)} onClose={onClose} />;
}
