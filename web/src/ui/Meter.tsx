import css from "./Meter.module.css";

/** A mark on a meter, such as where a queue begins to refuse. */
export interface Mark {
  /** 0 to 1 of the meter's width. */
  at: number;
  name: string;
}

const none: readonly Mark[] = [];

/** How full something is: a bar with its share of the width filled. `tone` is its colour; what it means must stand beside it in words. */
export function Meter({
  label,
  share,
  tone = "plain",
  tall = false,
  marks = none,
  text,
}: {
  label: string;
  /** 0 to 1; more is shown as full. */
  share: number;
  tone?: "plain" | "warn" | "bad";
  tall?: boolean;
  marks?: readonly Mark[];
  /** What screen readers hear and hovering shows; the percentage unless said. */
  text?: string;
}) {
  const part = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0));
  const said = [text ?? `${Math.round(part * 100)} %`, ...marks.map((m) => `${m.name} at ${Math.round(m.at * 100)} %`)].join(", ");
  return (
    <div className={css["meter"]} data-tall={tall || undefined} data-tone={tone} role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(part * 100)} aria-valuetext={said} title={said}>
      <span className={css["fill"]} style={{ width: part > 0 ? `max(2px, ${part * 100}%)` : 0 }} />
      {marks.map((m) => (
        <span key={m.name} className={css["mark"]} style={{ left: `${m.at * 100}%` }} />
      ))}
    </div>
  );
}
