import css from "./Why.module.css";

/** A diagnosis below a name; the whole of a long one opens. */
export function Said({ text }: { text: string }) {
  if (text.length <= 260) return <p className={css["said"]}>{text}</p>;
  return (
    <details className={css["said"]}>
      <summary>{text.slice(0, 240)}…</summary>
      {text.slice(240)}
    </details>
  );
}
