import { useRef } from "react";
import { count, duration } from "../../ui/format";
import { shareOf, ticks } from "./axis";
import type { Bar } from "./histogram";
import css from "./Histogram.module.css";

/** A mark on the axis of durations, in ms. */
export interface Mark {
  label: string;
  at: number;
}

/**
 * Durations on a log scale: what has finished, and above it in another pattern what runs, at its present age. A bar is a button that selects its
 * shards; the arrow keys move between bars.
 */
export function Histogram({ bars, marks, onPick }: { bars: readonly Bar[]; marks: readonly Mark[]; onPick: (bar: Bar, add: boolean) => void }) {
  const row = useRef<HTMLDivElement>(null);
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return null;
  const tallest = Math.max(...bars.map((b) => b.done + b.running));
  const at = (ms: number): string => `${100 * shareOf(ms, first.from, last.to)}%`;
  // The least bar stays visible: one shard of 100,000 is what one looks for.
  const high = (n: number): string => (n === 0 ? "0" : `max(2px, ${(100 * n) / tallest}%)`);
  const move = (event: React.KeyboardEvent<HTMLDivElement>) => {
    const buttons = [...(row.current?.querySelectorAll<HTMLElement>("button") ?? [])];
    const from = buttons.indexOf(document.activeElement as HTMLElement); // the focus is on one of the buttons, or indexOf says -1
    const to = event.key === "ArrowRight" ? from + 1 : event.key === "ArrowLeft" ? from - 1 : event.key === "Home" ? 0 : event.key === "End" ? buttons.length - 1 : -1;
    if (to < 0 || !buttons[to]) return;
    event.preventDefault();
    buttons[to].focus();
  };
  return (
    <div>
      <div className={css["chart"]}>
        <div className={css["bars"]} ref={row} role="toolbar" aria-label="Durations: choose a bar to select its shards" tabIndex={-1} onKeyDown={move}>
          {bars.map((b, i) => {
            const text = `${duration(b.from / 1000)} to ${duration(b.to / 1000)}: ${count(b.done)} finished${b.running > 0 ? `, ${count(b.running)} running` : ""}`;
            return (
              <button key={b.from} type="button" className={css["bar"]} tabIndex={i === 0 ? 0 : -1} title={`${text}. Click selects them`} aria-label={text} onClick={(e) => onPick(b, e.ctrlKey || e.metaKey || e.shiftKey)}>
                <span className={css["running"]} style={{ height: high(b.running) }} />
                <span className={css["done"]} style={{ height: high(b.done) }} />
              </button>
            );
          })}
        </div>
        {marks.map((m) => (
          <div key={m.label} className={css["mark"]} data-left={shareOf(m.at, first.from, last.to) > 0.8 || undefined} style={{ left: at(m.at) }}>
            <span>{m.label}</span>
          </div>
        ))}
      </div>
      <div className={css["axis"]} aria-hidden>
        {ticks(first.from, last.to, 7).map((t) => (
          <span key={t} className={css["tick"]} style={{ left: at(t) }}>
            {duration(t / 1000)}
          </span>
        ))}
      </div>
    </div>
  );
}

/** What the patterns of the bars mean. */
export function HistogramKey({ running }: { running: boolean }) {
  return (
    <>
      <span className={css["key"]}>
        <i className={css["done"]} /> finished
      </span>
      {running && (
        <span className={css["key"]}>
          <i className={css["running"]} /> running, at their age
        </span>
      )}
    </>
  );
}
