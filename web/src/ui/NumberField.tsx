import { useState } from "react";
import { Field } from "./Field";
import css from "./inputs.module.css";

/** What the text of a number field means: a number, nothing (undefined), or no number (NaN). */
export function readNumber(text: string): number | undefined {
  const t = text.trim();
  return t === "" ? undefined : Number(t);
}

/**
 * A number in a form. `onChange` gets undefined for an empty field, and only what is a number; what is none, or beyond `min` and `max`, is said
 * below the field, `onChange` is not called for it. `unit` stands at its right end.
 */
export function NumberField({
  label,
  value,
  onChange,
  hint,
  error,
  optional = false,
  bare = false,
  min,
  max,
  whole = false,
  unit,
  placeholder,
  disabled = false,
}: {
  label: string;
  value: number | undefined;
  onChange: (value: number | undefined) => void;
  hint?: React.ReactNode;
  error?: string | undefined;
  optional?: boolean;
  bare?: boolean;
  min?: number;
  max?: number;
  /** Only integers. */
  whole?: boolean;
  unit?: string;
  placeholder?: string;
  disabled?: boolean;
}) {
  const [text, setText] = useState(() => (value === undefined ? "" : String(value)));
  // While the text means the value it stays as it was typed ("1." or "1e3"); else the caller has set another one.
  const [wrong, setWrong] = useState<string>();
  const shown = wrong !== undefined || readNumber(text) === value ? text : value === undefined ? "" : String(value);
  const type = (next: string) => {
    setText(next);
    const n = readNumber(next);
    const problem =
      n === undefined
        ? undefined
        : !Number.isFinite(n)
          ? "This is not a number."
          : whole && !Number.isInteger(n)
            ? "It must be a whole number."
            : min !== undefined && n < min
              ? `It must be at least ${min}.`
              : max !== undefined && n > max
                ? `It must be at most ${max}.`
                : undefined;
    setWrong(problem);
    if (problem === undefined) onChange(n);
  };
  return (
    <Field label={label} hint={hint} error={wrong ?? error} optional={optional} bare={bare}>
      {(ids) => (
        <div className={css["number"]}>
          <input {...ids} className={css["input"]} inputMode="decimal" autoComplete="off" aria-label={bare ? label : undefined} value={shown} placeholder={placeholder} disabled={disabled} onChange={(e) => type(e.target.value)} />
          {unit && <span className={css["unit"]}>{unit}</span>}
        </div>
      )}
    </Field>
  );
}
