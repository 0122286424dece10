import { print, type Json } from "../../params/json";
import { diff, type Difference } from "../../ui/jsondiff";
import css from "./StartScreen.module.css";

/** A value of a difference in one line. Whole numbers beyond what JavaScript holds are bigints here. */
function show(v: unknown): string {
  if (typeof v === "bigint") return String(v);
  // What is compared was JSON.
  const text = Array.isArray(v) || (typeof v === "object" && v !== null) ? print(bigints(v) as Json) : JSON.stringify(v);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function bigints(v: unknown): unknown {
  if (typeof v === "bigint") return String(v);
  if (Array.isArray(v)) return v.map(bigints);
  if (typeof v === "object" && v !== null) return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, bigints(x)]));
  return v;
}

/** What differs from the params of an earlier run. Secrets are in neither. */
export const changesOf = (before: unknown, after: unknown): Difference[] => diff(before, after);

/** The differences, one a line: what was and what will be. */
export function DiffList({ changes }: { changes: readonly Difference[] }) {
  if (changes.length === 0) return <p className={css["muted"]}>Nothing differs from the earlier run.</p>;
  return (
    <ul className={css["changes"]} aria-label="Differences from the earlier run">
      {changes.slice(0, 100).map((c) => (
        <li key={`${c.kind} ${c.path}`} className={css["change"]}>
          <code className={css["place"]}>{c.path || "(the whole)"}</code>
          {c.kind !== "added" && (
            <del>
              <code>{show(c.before)}</code>
            </del>
          )}
          {c.kind !== "removed" && (
            <ins>
              <code>{show(c.after)}</code>
            </ins>
          )}
          {c.kind === "removed" && <span className={css["muted"]}>taken out</span>}
        </li>
      ))}
    </ul>
  );
}
