import { Dialog as Base } from "@base-ui/react/dialog";
import { useDeferredValue, useId, useRef, useState } from "react";
import { Icon } from "../../ui/Icon";
import { Lit } from "./Lit";
import css from "./Palette.module.css";
import { useEntries, type Entry } from "./useEntries";

/** The command palette: type, choose with the arrow keys, Enter. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const { groups, busy } = useEntries(useDeferredValue(typed));
  const all = groups.flatMap((g) => g.entries);
  const index = Math.min(active, all.length - 1);
  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    // After the dialog has given the focus back, or it would take it from what the action opens.
    setTimeout(entry.action);
  };
  const move = (to: number) => {
    setActive(to);
    document.getElementById(`${id}-${to}`)?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const n = all.length;
    if (event.key === "ArrowDown" && n > 0) move((index + 1) % n);
    else if (event.key === "ArrowUp" && n > 0) move((index - 1 + n) % n);
    else if (event.key === "PageDown" && n > 0) move(Math.min(n - 1, index + 8));
    else if (event.key === "PageUp" && n > 0) move(Math.max(0, index - 8));
    else if (event.key === "Enter") choose(all[index]);
    else return;
    event.preventDefault();
  };
  // Where each group begins among all entries.
  const starts = groups.map((_, k) => groups.slice(0, k).reduce((sum, g) => sum + g.entries.length, 0));
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={css["scrim"]} />
        <Base.Popup className={css["popup"]} initialFocus={input} aria-label="Command palette">
          <div className={css["search"]}>
            <Icon name="search" size={16} />
            <input
              ref={input}
              role="combobox"
              aria-label="Go to, start, find"
              aria-expanded="true"
              aria-controls={`${id}-list`}
              aria-activedescendant={all.length > 0 ? `${id}-${index}` : undefined}
              aria-autocomplete="list"
              placeholder="A place, a flow, a run’s id, flow:x state:failed, an action…"
              autoComplete="off"
              spellCheck={false}
              value={typed}
              onChange={(e) => {
                setTyped(e.target.value);
                setActive(0);
              }}
              onKeyDown={onKeyDown}
            />
            {busy && <span className={css["busy"]}>searching…</span>}
          </div>
          <div className={css["list"]} id={`${id}-list`} role="listbox" aria-label="What matches" tabIndex={-1}>
            {groups.map((g, k) => (
              <div key={g.name} role="group" aria-label={g.name}>
                <div className={css["group"]} aria-hidden>
                  {g.name}
                </div>
                {g.entries.map((entry, e) => {
                  const i = (starts[k] ?? 0) + e;
                  return (
                    // The keys are the input's: an option is never focused.
                    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
                    <div key={entry.id} id={`${id}-${i}`} role="option" aria-selected={i === index} tabIndex={-1} className={css["option"]} onPointerMove={() => i !== index && setActive(i)} onClick={() => choose(entry)}>
                      {entry.mark}
                      <span className={css["name"]}>
                        <Lit text={entry.name} at={entry.at} />
                      </span>
                      {entry.hint && <span className={css["hint"]}>{entry.hint}</span>}
                    </div>
                  );
                })}
              </div>
            ))}
          </div>
          {all.length === 0 && !busy && <p className={css["none"]}>Nothing matches “{typed}”. Type a part of a name, the beginning of a run’s id, or a search such as flow:x.</p>}
          <div className={css["foot"]}>
            <span>
              <kbd>↑</kbd> <kbd>↓</kbd> choose
            </span>
            <span>
              <kbd>Enter</kbd> go
            </span>
            <span>
              <kbd>Esc</kbd> close
            </span>
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
