import { CSPProvider } from "@base-ui/react/csp-provider";
import { Select as Base } from "@base-ui/react/select";
import { Field } from "./Field";
import { Icon } from "./Icon";
import css from "./Select.module.css";

/** One of a list. The label stands above it as in forms, or with `bare` is for screen readers only, as in bars of filters. */
export function Select<V extends string>({
  label,
  value,
  onChange,
  options,
  bare = false,
  hint,
  error,
  disabled = false,
  placeholder,
}: {
  label: string;
  value: V;
  onChange: (value: V) => void;
  options: readonly { value: V; label: string; hint?: string }[];
  bare?: boolean;
  hint?: React.ReactNode;
  error?: string | undefined;
  disabled?: boolean;
  /** Shown while `value` is none of the options. */
  placeholder?: string;
}) {
  const chosen = options.find((o) => o.value === value);
  return (
    <Field label={label} bare={bare} hint={hint} error={error}>
      {(ids) => (
        // The style element that Base UI would write into the page is forbidden by the page's policy; what it says stands in the module.
        <CSPProvider disableStyleElements>
          <Base.Root items={options} value={chosen ? value : null} onValueChange={(next) => next !== null && onChange(next)} disabled={disabled} modal={false}>
            <Base.Trigger className={css["trigger"]} {...ids} aria-label={bare ? label : undefined}>
              {/* Base UI takes an empty value for none; here it is an option like others. */}
              <Base.Value>{() => chosen?.label ?? placeholder ?? "Choose"}</Base.Value>
              <Icon name="down" size={12} />
            </Base.Trigger>
            <Base.Portal>
              <Base.Positioner className={css["positioner"]} sideOffset={4} alignItemWithTrigger={false}>
                <Base.Popup className={css["popup"]}>
                  {options.map((o) => (
                    <Base.Item key={o.value} value={o.value} className={css["item"]}>
                      <span className={css["check"]}>
                        <Base.ItemIndicator>
                          <Icon name="check" size={12} />
                        </Base.ItemIndicator>
                      </span>
                      <Base.ItemText>{o.label}</Base.ItemText>
                      {o.hint && <span className={css["hint"]}>{o.hint}</span>}
                    </Base.Item>
                  ))}
                </Base.Popup>
              </Base.Positioner>
            </Base.Portal>
          </Base.Root>
        </CSPProvider>
      )}
    </Field>
  );
}
