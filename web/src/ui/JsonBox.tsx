import css from "./JsonBox.module.css";

/** A JSON value, indented, as it is. Long lines wrap. */
export function JsonBox({ value, label }: { value: unknown; label: string }) {
  return (
    <section className={css["box"]} aria-label={label}>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </section>
  );
}
