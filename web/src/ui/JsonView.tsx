import { useState } from "react";
import { Button } from "./Button";
import { Copy } from "./Copy";
import { plural } from "./format";
import css from "./JsonView.module.css";
import { entriesOf, kindOf, openAtFirst, redacted } from "./json";

/**
 * A JSON value to read: objects and lists fold, long ones show their beginning, what the server has redacted is marked, and the whole can
 * be copied. `label` names it for screen readers and on the button.
 */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  const [all, setAll] = useState<{ open: boolean; n: number }>();
  const folds = kindOf(value) === "object" || kindOf(value) === "array";
  return (
    <div className={css["view"]} role="group" aria-label={label}>
      <div className={css["tools"]}>
        {folds && (
          <>
            <Button kind="quiet" small onClick={() => setAll((a) => ({ open: true, n: (a?.n ?? 0) + 1 }))}>
              Unfold
            </Button>
            <Button kind="quiet" small onClick={() => setAll((a) => ({ open: false, n: (a?.n ?? 0) + 1 }))}>
              Fold
            </Button>
          </>
        )}
        <Copy text={() => JSON.stringify(value, null, 2)} what={label} />
      </div>
      {/* A new key builds the tree anew, with everything folded or unfolded. */}
      <div className={css["tree"]} key={all?.n ?? 0}>
        <Value value={value} depth={0} all={all?.open} />
      </div>
    </div>
  );
}

/** So many entries are shown at a time. */
const page = 100;

function Value({ name, value, depth, all, last = true }: { name?: string; value: unknown; depth: number; all: boolean | undefined; last?: boolean }) {
  const kind = kindOf(value);
  const entries = entriesOf(value);
  const [open, setOpen] = useState(depth === 0 || (all ?? openAtFirst(entries.length, depth)));
  const [shown, setShown] = useState(page);
  const key = name !== undefined && (
    <>
      <span className={css["key"]}>{name}</span>:{" "}
    </>
  );
  if (kind !== "object" && kind !== "array") {
    return (
      <div className={css["line"]}>
        {key}
        <Scalar value={value} kind={kind} />
        {!last && ","}
      </div>
    );
  }
  const [left, right] = kind === "array" ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) {
    return (
      <div className={css["line"]}>
        {key}
        {left}
        {right}
        {!last && ","}
      </div>
    );
  }
  return (
    <div>
      <button type="button" className={css["fold"]} aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className={css["arrow"]} aria-hidden />
        {key}
        {left}
        {!open && (
          <span className={css["folded"]}>
            {" "}
            {plural(entries.length, kind === "array" ? "item" : "field")} {right}
          </span>
        )}
      </button>
      {open && (
        <>
          <div className={css["inside"]}>
            {entries.slice(0, shown).map(([k, v], i) => (
              <Value key={k} {...(kind === "object" ? { name: k } : {})} value={v} depth={depth + 1} all={all} last={i === entries.length - 1} />
            ))}
            {entries.length > shown && (
              <Button kind="quiet" small onClick={() => setShown(shown + page * 5)}>
                {plural(entries.length - shown, "more item")}
              </Button>
            )}
          </div>
          <div className={css["line"]}>
            {right}
            {!last && ","}
          </div>
        </>
      )}
    </div>
  );
}

/** Longer texts are cut until somebody asks. */
const longest = 300;

function Scalar({ value, kind }: { value: unknown; kind: string }) {
  const [whole, setWhole] = useState(false);
  if (redacted(value)) {
    return (
      <span className={css["redacted"]} title="The flow declares it secret, or the server redacts it">
        ••• redacted
      </span>
    );
  }
  const text = JSON.stringify(value) ?? "null";
  if (whole || text.length <= longest) {
    return (
      <span className={css["scalar"]} data-kind={kind}>
        {text}
      </span>
    );
  }
  return (
    <span className={css["scalar"]} data-kind={kind}>
      {text.slice(0, longest)}
      <Button kind="quiet" small onClick={() => setWhole(true)}>
        … {plural(text.length - longest, "more character")}
      </Button>
    </span>
  );
}
