import css from "./Segmented.module.css";

/** Two to five choices side by side, of which one holds: radio buttons in another look, so the arrow keys move between them. */
export function Segmented<V extends string>({ label, value, onChange, options }: { label: string; value: V; onChange: (value: V) => void; options: readonly { value: V; label: React.ReactNode; disabled?: boolean; title?: string }[] }) {
  const move = (event: React.KeyboardEvent<HTMLButtonElement>) => {
    const step = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : event.key === "ArrowLeft" || event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const open = options.filter((o) => !o.disabled);
    const next = open[(open.findIndex((o) => o.value === value) + step + open.length) % open.length];
    if (!next) return;
    onChange(next.value);
    event.currentTarget.parentElement?.querySelector<HTMLElement>(`[data-value="${CSS.escape(next.value)}"]`)?.focus();
  };
  // If the value is none of the options, the first one can be reached.
  const held = options.some((o) => o.value === value) ? value : options[0]?.value;
  return (
    <div className={css["group"]} role="radiogroup" aria-label={label}>
      {options.map((o) => (
        <button
          key={o.value}
          type="button"
          role="radio"
          aria-checked={o.value === value}
          tabIndex={o.value === held ? 0 : -1}
          data-value={o.value}
          disabled={o.disabled}
          title={o.title}
          className={css["option"]}
          onKeyDown={move}
          onClick={() => onChange(o.value)}
        >
          {o.label}
        </button>
      ))}
    </div>
  );
}
