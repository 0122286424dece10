import { useId } from "react";
import { Field } from "./Field";
import css from "./inputs.module.css";
import { useTyped } from "./useTyped";

/** What all text inputs take; other attributes go to the input. */
export type TextProps<E extends "input" | "textarea"> = Omit<React.ComponentProps<E>, "value" | "onChange" | "children"> & {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: React.ReactNode;
  error?: string | undefined;
  /** Says beside the label that it may stay empty. */
  optional?: boolean;
  /** The label is for screen readers only. */
  bare?: boolean;
  /** In the typeface of code. */
  mono?: boolean;
};

/** One line of text in a form. `suggestions` are offered while typing and bind nobody. */
export function TextField({ label, value, onChange, hint, error, optional = false, bare = false, mono = false, suggestions, onBlur, ...rest }: TextProps<"input"> & { suggestions?: readonly string[] }) {
  const list = useId();
  const { text, type, leave } = useTyped(value, onChange);
  return (
    <Field label={label} hint={hint} error={error} optional={optional} bare={bare}>
      {(ids) => (
        <>
          <input {...rest} {...ids} className={css["input"]} data-mono={mono || undefined} aria-label={bare ? label : undefined} value={text} list={suggestions?.length ? list : undefined} onChange={(e) => type(e.target.value)} onBlur={(e) => (leave(), onBlur?.(e))} />
          {suggestions && suggestions.length > 0 && (
            <datalist id={list}>
              {suggestions.map((s) => (
                <option key={s} value={s}>
                  {s}
                </option>
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}
