import { useState } from "react";
import { ActDialog } from "../../acts/ActDialog";
import { moveCircuit } from "../../acts/requests";
import type { Schemas } from "../../api/client";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";

/** Opens the circuit of any downstream or handler by hand, also one that has never been opened. */
export function OpenCircuit({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState<Schemas["CircuitKind"]>("downstream");
  const [name, setName] = useState("");
  return (
    <ActDialog {...moveCircuit(kind, name.trim(), "open")} title="Open a circuit by hand" input={[kind, name]} ready={name.trim() !== ""} onClose={onClose}>
      {(errors) => (
        <>
          <Select
            label="Kind"
            value={kind}
            onChange={setKind}
            options={[
              { value: "downstream", label: "downstream", hint: "what stages name with stage.Downstream" },
              { value: "handler", label: "handler", hint: "one stage of one flow" },
            ]}
            error={errors.get("/kind")}
          />
          <TextField label="Name" value={name} onChange={setName} mono placeholder={kind === "handler" ? "daily-recon/compare" : "warehouse"} hint={kind === "handler" ? "flow/stage" : "As the stages name it."} error={errors.get("/name")} autoComplete="off" spellCheck={false} />
        </>
      )}
    </ActDialog>
  );
}
