import { count } from "./format";
import { toneOrder, type Part } from "./states";
import css from "./StateBar.module.css";

/** What a bar says, for screen readers and on hover: "12 succeeded, 3 failed". */
export const barText = (parts: readonly Part[]): string => parts.map((p) => `${count(p.count)} ${p.label ?? p.tone}`).join(", ") || "nothing yet";

/** A bar of counts by tone, in the order of `toneOrder`; the smallest part stays visible. */
export function StateBar({ parts, tall = false, label }: { parts: readonly Part[]; tall?: boolean; label?: string }) {
  const ordered = toneOrder.flatMap((tone) => parts.filter((p) => p.tone === tone && p.count > 0));
  const text = barText(ordered);
  return (
    <div className={css["bar"]} data-tall={tall || undefined} role="img" aria-label={label ? `${label}: ${text}` : text} title={text}>
      {ordered.map((p) => (
        <span key={p.tone + (p.label ?? "")} className={css["part"]} data-tone={p.tone} style={{ flexGrow: p.count }} />
      ))}
    </div>
  );
}
