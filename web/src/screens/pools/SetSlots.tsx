import { useState } from "react";
import { ActDialog } from "../../acts/ActDialog";
import { setPool } from "../../acts/requests";
import type { Schemas } from "../../api/client";
import { NumberField } from "../../ui/NumberField";
import { allTogether } from "./figures";

/** Sets how many slots each worker has for a handler. */
export function SetSlots({ pool, onClose }: { pool: Schemas["Pool"]; onClose: () => void }) {
  const [slots, setSlots] = useState<number | undefined>(pool.set ?? (pool.workers > 0 ? Math.round(pool.slots / pool.workers) : undefined));
  return (
    <ActDialog {...setPool(pool.flow, pool.stage, slots ?? 1)} input={slots} ready={slots !== undefined} onClose={onClose}>
      {(errors) => <NumberField label="Slots on each worker" value={slots} onChange={setSlots} min={1} max={10_000} whole unit="slots" hint={`Tasks of the handler that run at once on one worker. ${allTogether(pool, slots)}`} error={errors.get("/slots")} />}
    </ActDialog>
  );
}
