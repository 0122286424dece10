import { Switch as Base } from "@base-ui/react/switch";
import { useId } from "react";
import css from "./inputs.module.css";

/** Something that is on or off, at once. `bare` leaves the label to screen readers. */
export function Switch({ label, checked, onChange, hint, disabled = false, bare = false }: { label: string; checked: boolean; onChange: (checked: boolean) => void; hint?: React.ReactNode; disabled?: boolean; bare?: boolean }) {
  const id = useId();
  return (
    <div className={css["toggle"]}>
      <Base.Root id={id} className={css["switch"]} checked={checked} onCheckedChange={(next) => onChange(next)} disabled={disabled} aria-label={bare ? label : undefined} aria-describedby={hint ? `${id}-hint` : undefined}>
        <Base.Thumb className={css["thumb"]} />
      </Base.Root>
      {!bare && (
        <div className={css["toggleText"]}>
          <label htmlFor={id} className={css["toggleLabel"]}>
            {label}
          </label>
          {hint && (
            <span className={css["toggleHint"]} id={`${id}-hint`}>
              {hint}
            </span>
          )}
        </div>
      )}
    </div>
  );
}
