import { useEffect, useRef } from "react";
import { Icon } from "./Icon";
import css from "./SearchField.module.css";
import { typing } from "./typing";
import { useTyped } from "./useTyped";

/**
 * A search box. `/` anywhere on the screen focuses it (not with `shortcut={false}`), Escape empties it, and leaves it if it is empty. Other
 * attributes go to the input, for those who hang a list of suggestions on it.
 */
export function SearchField({
  label,
  value,
  onChange,
  onEnter,
  shortcut = true,
  width,
  onKeyDown,
  onBlur,
  ...rest
}: Omit<React.ComponentProps<"input">, "value" | "onChange" | "type" | "ref"> & {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Called on Enter. */
  onEnter?: (value: string) => void;
  shortcut?: boolean;
  /** In px; it shrinks where there is less room. Without it, it takes all the room there is. */
  width?: number;
}) {
  const input = useRef<HTMLInputElement>(null);
  const { text, type, leave } = useTyped(value, onChange);
  useEffect(() => {
    if (!shortcut) return;
    const press = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [shortcut]);
  return (
    <div className={css["box"]} style={width === undefined ? undefined : { flex: `0 1 ${width}px` }}>
      <Icon name="search" />
      <input
        {...rest}
        ref={input}
        type="text"
        role={rest.role ?? "searchbox"}
        className={css["input"]}
        aria-label={label}
        placeholder={rest.placeholder ?? label}
        value={text}
        spellCheck={false}
        autoComplete="off"
        onChange={(e) => type(e.target.value)}
        onBlur={(event) => {
          leave();
          onBlur?.(event);
        }}
        onKeyDown={(event) => {
          onKeyDown?.(event);
          if (event.defaultPrevented) return;
          if (event.key === "Enter") onEnter?.(text);
          if (event.key !== "Escape") return;
          if (text === "") event.currentTarget.blur();
          else {
            // What is around it, such as a dialog, is closed by the next one.
            event.stopPropagation();
            type("");
          }
        }}
      />
      {text !== "" ? (
        <button type="button" className={css["clear"]} aria-label="Empty the search" onClick={() => (type(""), input.current?.focus())}>
          <Icon name="close" size={12} />
        </button>
      ) : (
        shortcut && (
          <kbd className={css["key"]} aria-hidden>
            /
          </kbd>
        )
      )}
    </div>
  );
}
