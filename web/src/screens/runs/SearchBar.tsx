import { useId, useRef, useState } from "react";
import { accept, suggest, type Known, type Suggestion } from "../../runs/suggest";
import { SearchField } from "../../ui/SearchField";
import css from "./SearchBar.module.css";

/**
 * The search for runs: what is typed becomes the search on Enter, when a suggestion finishes a term, and when the field is left. Arrow
 * keys move in the suggestions, Tab or Enter takes one, Escape closes them. `fault` is what the API says is wrong with the search.
 */
export function SearchBar({ q, onSearch, known, fault }: { q: string; onSearch: (q: string) => void; known: Known; fault: string | undefined }) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  // What is typed belongs to the search that it began from: another search, from a link or a chip, replaces it.
  const [typed, setTyped] = useState({ from: q, text: q });
  const text = typed.from === q ? typed.text : q;
  const [caret, setCaret] = useState(text.length);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);

  const list = open ? suggest(text, caret, known) : [];
  const picked = list[at];
  // Somebody is in the middle of a term: Tab finishes it, and does not leave the field.
  const begun = text !== q && /\S$/u.test(text.slice(0, caret));

  const type = (next: string, place: number, show = true) => {
    setTyped({ from: q, text: next });
    setCaret(place);
    setOpen(show);
    setAt(-1);
  };
  const search = (next: string) => {
    setOpen(false);
    setTyped({ from: next.trim(), text: next.trim() });
    if (next.trim() !== q) onSearch(next.trim());
  };
  const take = (s: Suggestion) => {
    const after = accept(text, s);
    type(after.q, after.caret, true);
    if (!s.more && after.q.trim() !== q) {
      setTyped({ from: after.q.trim(), text: after.q });
      onSearch(after.q.trim());
    }
    // The caret is put by hand once React has written the text.
    requestAnimationFrame(() => {
      const input = box.current?.querySelector("input");
      input?.focus();
      input?.setSelectionRange(after.caret, after.caret);
    });
  };
  const onKeyDown = (event: React.KeyboardEvent<HTMLInputElement>) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      if (!open) setOpen(true);
      else setAt((i) => (list.length === 0 ? -1 : (i + step + list.length + (i < 0 && step < 0 ? 1 : 0)) % list.length));
    } else if ((event.key === "Enter" && picked) || (event.key === "Tab" && !event.shiftKey && list.length > 0 && (picked ?? begun))) {
      const s = picked ?? list[0];
      if (!s) return;
      event.preventDefault();
      take(s);
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    }
  };
  return (
    <div className={css["bar"]}>
      <div
        ref={box}
        className={css["field"]}
        onBlur={(event) => {
          if (event.currentTarget.contains(event.relatedTarget)) return;
          search(text);
        }}
      >
        <SearchField
          label="Search runs"
          placeholder="Search runs: flow:daily-recon state:failed since:24h"
          value={text}
          onChange={(next) => {
            type(next, box.current?.querySelector("input")?.selectionStart ?? next.length);
            if (next === "") search("");
          }}
          onEnter={search}
          onKeyDown={onKeyDown}
          onFocus={() => setOpen(true)}
          onClick={(event) => (setCaret(event.currentTarget.selectionStart ?? text.length), setOpen(true))}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? text.length)}
          role="combobox"
          aria-expanded={list.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={picked ? `${id}-${at}` : undefined}
          aria-invalid={fault ? true : undefined}
          aria-describedby={fault ? `${id}-fault` : undefined}
        />
        {list.length > 0 && (
          <div className={css["list"]} role="listbox" id={`${id}-list`} aria-label="Suggestions">
            {list.map((s, i) => (
              <div
                key={`${s.text} ${s.from}`}
                id={`${id}-${i}`}
                role="option"
                tabIndex={-1}
                aria-selected={i === at}
                className={css["option"]}
                // The field keeps the focus: leaving it would search.
                onMouseDown={(event) => (event.preventDefault(), take(s))}
              >
                <code>{s.text}</code>
                <span className={css["hint"]}>{s.hint}</span>
              </div>
            ))}
          </div>
        )}
      </div>
      {fault && (
        <p className={css["fault"]} role="alert" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
}
