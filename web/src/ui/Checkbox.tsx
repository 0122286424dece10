import { Checkbox as Base } from "@base-ui/react/checkbox";
import { useId } from "react";
import { Icon } from "./Icon";
import css from "./inputs.module.css";

/** Something that is chosen or not, in a form. `some` shows that a part of what it stands for is chosen. `bare` leaves the label to screen readers. */
export function Checkbox({ label, checked, onChange, hint, some = false, disabled = false, bare = false }: { label: string; checked: boolean; onChange: (checked: boolean) => void; hint?: React.ReactNode; some?: boolean; disabled?: boolean; bare?: boolean }) {
  const id = useId();
  return (
    <div className={css["toggle"]}>
      <Base.Root id={id} className={css["checkbox"]} checked={checked} indeterminate={some} onCheckedChange={(next) => onChange(next)} disabled={disabled} aria-label={bare ? label : undefined} aria-describedby={hint ? `${id}-hint` : undefined}>
        <Base.Indicator className={css["tick"]}>{some ? <span className={css["dash"]} /> : <Icon name="check" size={12} />}</Base.Indicator>
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
