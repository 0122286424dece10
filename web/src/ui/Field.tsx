import { useId } from "react";
import css from "./Field.module.css";

/** What connects an input with its label, hint and error. */
export interface FieldIds {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

/** A label above an input, with a hint or what is wrong below it. `bare` leaves the label to the input's `aria-label`. */
export function Field({ label, hint, error, bare = false, optional = false, children }: { label: React.ReactNode; hint?: React.ReactNode; error?: string | undefined; bare?: boolean; optional?: boolean; children: (ids: FieldIds) => React.ReactNode }) {
  const id = useId();
  const note = error ?? hint;
  const ids: FieldIds = { id, "aria-describedby": note ? `${id}-note` : undefined, "aria-invalid": error ? true : undefined };
  return (
    <div className={css["field"]} data-bare={bare || undefined}>
      {!bare && (
        <label className={css["label"]} htmlFor={id}>
          {label}
          {optional && <span className={css["optional"]}> optional</span>}
        </label>
      )}
      {children(ids)}
      {note && (
        <div className={css["note"]} id={`${id}-note`} data-bad={error ? true : undefined} role={error ? "alert" : undefined}>
          {note}
        </div>
      )}
    </div>
  );
}
