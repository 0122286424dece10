import { Tabs as Base } from "@base-ui/react/tabs";
import { count } from "./format";
import css from "./Tabs.module.css";

/** A row of tabs. The content is the caller's: it shows what belongs to `value`. `count` stands beside a tab's name. */
export function Tabs<V extends string>({ value, onChange, tabs, label, aside }: { value: V; onChange: (value: V) => void; tabs: readonly { value: V; label: string; count?: number | undefined }[]; label?: string; aside?: React.ReactNode }) {
  return (
    <Base.Root className={css["root"]} value={value} onValueChange={(next: V) => onChange(next)}>
      <Base.List className={css["list"]} activateOnFocus aria-label={label}>
        {tabs.map((t) => (
          <Base.Tab key={t.value} value={t.value} className={css["tab"]}>
            {t.label}
            {t.count !== undefined && <span className={css["count"]}>{count(t.count)}</span>}
          </Base.Tab>
        ))}
      </Base.List>
      {aside && <div className={css["aside"]}>{aside}</div>}
    </Base.Root>
  );
}
