import css from "./KeyValues.module.css";

/** A list of names and values, in as many columns as there is room for. Items that are false or undefined are left out. */
export function KeyValues({ items, narrow = false }: { items: readonly ({ name: string; value: React.ReactNode } | false | undefined)[]; /** One column, for drawers. */ narrow?: boolean }) {
  return (
    <dl className={css["list"]} data-narrow={narrow || undefined}>
      {items.map(
        (item) =>
          item && (
            <div key={item.name} className={css["item"]}>
              <dt>{item.name}</dt>
              <dd>{item.value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
