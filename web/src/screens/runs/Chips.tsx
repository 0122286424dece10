import type { Schemas } from "../../api/client";
import { terms, toggled, valuesOf, without, withValues } from "../../runs/query";
import { Icon } from "../../ui/Icon";
import { Select } from "../../ui/Select";
import { ToneMark } from "../../ui/StateMark";
import { toneOf } from "../../ui/states";
import css from "./Chips.module.css";

const states: readonly Schemas["RunState"][] = ["running", "succeeded", "failed", "cancelled"];
const ages = [
  { value: "", label: "Any time" },
  { value: "1h", label: "Last hour" },
  { value: "24h", label: "Last 24 hours" },
  { value: "7d", label: "Last 7 days" },
  { value: "30d", label: "Last 30 days" },
];

/** The search’s common terms as buttons and lists, and its other terms as chips that can be taken out. */
export function Chips({ q, flows, onSearch }: { q: string; flows: readonly string[]; onSearch: (q: string) => void }) {
  const named = valuesOf(q, "flow");
  const since = valuesOf(q, "since").join(",");
  const held = new Set(valuesOf(q, "state"));
  const only = named.length === 1 ? (named[0] ?? "") : named.length > 1 ? "several" : "";
  return (
    <div className={css["chips"]} role="group" aria-label="Common filters">
      {states.map((state) => (
        <button key={state} type="button" className={css["toggle"]} aria-pressed={held.has(state) || (held.has("open") && state === "running") || (held.has("ended") && state !== "running")} onClick={() => onSearch(toggled(plain(q), "state", state))}>
          <ToneMark tone={toneOf(state)} />
          {state}
        </button>
      ))}
      <Select
        bare
        label="Flow"
        placeholder="Any flow"
        value={only}
        onChange={(flow) => onSearch(withValues(q, "flow", flow === "" || flow === "several" ? [] : [flow]))}
        options={[{ value: "", label: "Any flow" }, ...(named.length > 1 ? [{ value: "several", label: `${named.length} flows` }] : []), ...[...new Set([...(named.length === 1 ? named : []), ...flows])].slice(0, 200).map((f) => ({ value: f, label: f }))]}
      />
      <Select
        bare
        label="Created"
        placeholder="Any time"
        value={since}
        onChange={(age) => onSearch(withValues(q, "since", age === "" ? [] : [age]))}
        options={[...ages, ...(ages.some((a) => a.value === since) ? [] : [{ value: since, label: `Since ${since.replace("T", " ")}` }])]}
      />
      {terms(q).map((t, place) =>
        t.key === "state" || t.key === "since" || (t.key === "flow" && named.length <= 1) ? null : (
          <button key={q.slice(t.from, t.to)} type="button" className={css["term"]} onClick={() => onSearch(without(q, place))} aria-label={`Take out ${q.slice(t.from, t.to)}`}>
            <code>{q.slice(t.from, t.to)}</code>
            <Icon name="close" size={10} />
          </button>
        ),
      )}
    </div>
  );
}

/** The search with `open` and `ended` written out, so that one of their states can be taken out. */
function plain(q: string): string {
  const values = valuesOf(q, "state");
  if (!values.includes("open") && !values.includes("ended")) return q;
  return withValues(q, "state", [...new Set(values.flatMap((v) => (v === "open" ? ["running", "cancelling"] : v === "ended" ? ["succeeded", "failed", "cancelled"] : [v])))]);
}
