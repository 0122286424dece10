import { memo } from "react";
import { toneOf } from "../../../ui/states";
import css from "./GanttBars.module.css";
import type { Bar, Row } from "./rows";
import type { Span } from "./zoom";

/** The bars of one row, placed in percent of what is in sight. */
export const GanttBars = memo(function GanttBars({ row, span }: { row: Row; span: Span }) {
  const length = span.to - span.from;
  const place = (from: number, to: number) => ({ left: `${((from - span.from) / length) * 100}%`, width: `${((to - from) / length) * 100}%` });
  const seen = (from: number, to: number) => to >= span.from && from <= span.to;
  const { ready, usual, density, part, end } = row;
  const until = end ?? row.bars.at(-1)?.to;
  const last = density === undefined ? 0 : density.from + density.step * density.running.length;
  return (
    <>
      {ready !== undefined && usual !== undefined && seen(ready, ready + usual) && <span className={css["usual"]} style={place(ready, ready + usual)} />}
      {row.bars.map(
        (b) =>
          seen(b.from, b.to) && (
            <span
              key={`${b.phase}${b.from}`}
              className={css["bar"]}
              data-phase={b.phase === "backing off" ? "backoff" : b.phase}
              data-banded={(b.phase === "running" && density !== undefined) || undefined}
              data-state={b.phase === "running" ? look(b, row) : undefined}
              style={place(b.from, b.to)}
            />
          ),
      )}
      {density && seen(density.from, last) && (
        <svg className={css["density"]} data-state={end === undefined ? "running" : look({ phase: "running", from: density.from, to: end }, row)} style={place(density.from, last)} viewBox={`0 0 ${density.running.length} 100`} preserveAspectRatio="none" aria-hidden>
          <path d={band(density.running, density.peak)} />
          <path className={css["failures"]} d={marks(density.failed)} />
        </svg>
      )}
      {part?.critical && ready !== undefined && until !== undefined && seen(ready, until) && <span className={css["critical"]} style={place(ready, until)} />}
    </>
  );
});

/** How a bar of an attempt, or of all shards, looks: by the attempt's outcome, at the stage's end by its state. */
function look(b: Bar, { end, status }: Row): "succeeded" | "running" | "failed" | "cancelled" {
  if (b.outcome !== undefined) return toneOf(b.outcome) === "failed" ? "failed" : toneOf(b.outcome) === "cancelled" ? "cancelled" : "succeeded";
  if (b.open) return "running";
  if (b.to !== end) return "succeeded";
  return status.state === "failed" ? "failed" : status.state === "cancelled" ? "cancelled" : "succeeded";
}

/** Steps as an area of which the peak is 100 high. */
export function band(running: readonly number[], peak: number): string {
  if (peak <= 0) return "";
  const steps = running.map((n, i) => `${i === 0 ? "" : " "}L${i} ${y(n, peak)} L${i + 1} ${y(n, peak)}`).join("");
  return `M0 100 ${steps} L${running.length} 100Z`;
}

// One of thousands must be seen.
const y = (n: number, peak: number): number => (n === 0 ? 100 : Math.min(96, Math.round(100 - (n / peak) * 100)));

/** A mark below each step in which an attempt failed. */
const marks = (failed: readonly number[]): string => failed.flatMap((n, i) => (n > 0 ? `M${i} 78h1v22h-1z` : [])).join("");
