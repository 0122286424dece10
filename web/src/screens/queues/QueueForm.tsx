import type { Schemas } from "../../api/client";
import { NumberField } from "../../ui/NumberField";
import { Select } from "../../ui/Select";
import { defaults, errorOf, type Draft } from "./config";
import css from "./QueueForm.module.css";

const levels: readonly Schemas["Level"][] = ["P0", "P1", "P2", "P3", "P4", "P5"];
const options = levels.map((level) => ({ value: level, label: level }));

/** The settings of a queue, each with its meaning, unit and default. An empty field is the default. */
export function QueueForm({ draft, onChange, errors }: { draft: Draft; onChange: (draft: Draft) => void; errors: ReadonlyMap<string, string> }) {
  const set = <K extends keyof Draft>(key: K, value: Draft[K]) => onChange({ ...draft, [key]: value });
  const share = (key: "alert" | "refuse" | "pause" | "resume", label: string, hint: string) => (
    <NumberField label={label} value={draft[key]} onChange={(v) => set(key, v)} min={0} max={100} unit="%" placeholder={String(defaults[key])} hint={`${hint} Default: ${defaults[key]}\u00a0%.`} error={errorOf(errors, `${key}_at`)} />
  );
  return (
    <>
      <fieldset className={css["group"]}>
        <legend>Limits</legend>
        <NumberField label="Concurrency" value={draft.concurrency} onChange={(v) => set("concurrency", v)} min={0} max={1_000_000} whole unit="tasks" placeholder="no limit" hint="Tasks of the queue that run at once, in the whole cluster. Default: no limit." error={errorOf(errors, "concurrency")} />
        <NumberField label="Capacity" value={draft.capacity} onChange={(v) => set("capacity", v)} min={0} max={1_000_000_000} whole unit="tasks" placeholder="no limit" hint="Tasks that wait or run before starts are refused. Default: no limit, and no pressure." error={errorOf(errors, "capacity")} />
      </fieldset>
      <fieldset className={css["group"]}>
        <legend>Pressure, as shares of the capacity</legend>
        <div className={css["pair"]}>
          {share("alert", "Alert at", "Low levels are demoted.")}
          {share("refuse", "Refuse at", "Starts below the core level are refused.")}
          {share("pause", "Pause at", "Low levels pause.")}
          {share("resume", "Resume below", "Paused levels go on.")}
          <Select label="Core level" value={draft.core} onChange={(v) => set("core", v)} options={options} hint="It and more urgent ones are taken until the capacity is full. Default: P1." error={errorOf(errors, "core_level")} />
          <Select label="Low level" value={draft.low} onChange={(v) => set("low", v)} options={options} hint="It and less urgent ones are demoted and paused. Default: P3." error={errorOf(errors, "low_level")} />
        </div>
      </fieldset>
      <fieldset className={css["group"]}>
        <legend>Order</legend>
        <div className={css["weights"]}>
          {levels.map((level, i) => (
            <NumberField key={level} label={level} value={draft.weights[i]} onChange={(v) => set("weights", draft.weights.with(i, v))} min={1} max={10_000} whole placeholder={String(defaults.weights[i])} />
          ))}
        </div>
        <p className={css["hint"]} data-bad={errorOf(errors, "weights") ? true : undefined}>
          {errorOf(errors, "weights") ?? "Weights: the share of each level while all levels wait. Default: 40, 25, 15, 10, 6, 4."}
        </p>
        <NumberField label="Decay" value={draft.decay} onChange={(v) => set("decay", v)} min={0} max={10} unit="levels/s" placeholder={defaults.decay.toFixed(4)} hint="Levels that waiting work rises a second, up to P1. 0: each level keeps its place. Default: a level a minute." error={errorOf(errors, "decay")} />
      </fieldset>
    </>
  );
}
