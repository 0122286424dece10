import { Button } from "../../ui/Button";
import { count } from "../../ui/format";
import { ToneMark } from "../../ui/StateMark";
import type { Entry } from "./legend";
import css from "./Legend.module.css";

/** What the colours mean, with how many shards have each. A click shows these shards only; another one all of them again. */
export function Legend({ entries, pressed, onToggle, onClear }: { entries: readonly Entry[]; pressed: (value: string) => boolean; onToggle: (value: string) => void; onClear: (() => void) | undefined }) {
  return (
    <div className={css["legend"]} role="group" aria-label="Legend: show only">
      {entries.map((e) => {
        const content = (
          <>
            {e.tone ? <ToneMark tone={e.tone} size={13} /> : <span className={css["swatch"]} style={{ background: e.color }} />}
            {e.label} <b>{count(e.count)}</b>
          </>
        );
        return e.value === "" ? (
          <span key={e.label} className={css["entry"]}>
            {content}
          </span>
        ) : (
          <button key={e.value} type="button" className={css["entry"]} aria-pressed={pressed(e.value)} title={e.title ? `${e.title}: show only these` : "Show only these"} onClick={() => onToggle(e.value)}>
            {content}
          </button>
        );
      })}
      {onClear && (
        <Button kind="quiet" small onClick={onClear}>
          Show all
        </Button>
      )}
    </div>
  );
}
