import { Field } from "./Field";
import css from "./inputs.module.css";
import type { TextProps } from "./TextField";

/** Several lines of text in a form. */
export function TextArea({ label, value, onChange, hint, error, optional = false, bare = false, mono = false, rows = 3, ...rest }: TextProps<"textarea">) {
  return (
    <Field label={label} hint={hint} error={error} optional={optional} bare={bare}>
      {(ids) => <textarea {...rest} {...ids} rows={rows} className={css["input"]} data-mono={mono || undefined} aria-label={bare ? label : undefined} value={value} onChange={(e) => onChange(e.target.value)} />}
    </Field>
  );
}
