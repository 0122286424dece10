import { Button } from "../../ui/Button";
import { Segmented } from "../../ui/Segmented";
import { Select } from "../../ui/Select";
import { TextArea } from "../../ui/TextArea";
import { TextField } from "../../ui/TextField";
import type { Options } from "./options";
import css from "./StartScreen.module.css";

const levels = ["P0", "P1", "P2", "P3", "P4", "P5"];

/** Makes a key for one opening of the form. */
export const newKey = (): string => `page-${crypto.randomUUID()}`;

/** What a start says besides its params. */
export function OptionFields({ options, onChange, errors, queues }: { options: Options; onChange: (options: Options) => void; errors: ReadonlyMap<string, string>; queues: readonly string[] }) {
  const set = (part: Partial<Options>) => onChange({ ...options, ...part });
  return (
    <div className={css["options"]}>
      <div data-pointer="/level">
        <Select
          label="Level"
          value={options.level}
          onChange={(level) => set({ level })}
          placeholder="As the flow says"
          options={[{ value: "", label: "As the flow says" }, ...levels.map((l) => ({ value: l, label: l, ...(l === "P0" ? { hint: "most urgent" } : l === "P2" ? { hint: "unless said" } : {}) }))]}
          hint="Its place in the order of work: P0 is the most urgent."
          error={errors.get("/level")}
        />
      </div>
      <div data-pointer="/queue">
        <TextField label="Queue" value={options.queue} onChange={(queue) => set({ queue })} placeholder="default" suggestions={queues} hint="Stages with a queue of their own keep it." error={errors.get("/queue")} optional />
      </div>
      <div data-pointer={options.begin === "at" ? "/start_at" : "/delay_s"} className={css["begin"]}>
        <span className={css["label"]}>Begin</span>
        <Segmented
          label="Begin"
          value={options.begin}
          onChange={(begin) => set({ begin })}
          options={[
            { value: "now", label: "Now" },
            { value: "after", label: "After" },
            { value: "at", label: "At" },
          ]}
        />
        {options.begin === "after" && <TextField bare label="Begin after" value={options.after} onChange={(after) => set({ after })} placeholder="15m" error={errors.get("/delay_s")} />}
        {options.begin === "at" && <TextField bare mono label="Begin at" value={options.at} onChange={(at) => set({ at })} placeholder="2026-11-29T08:00:00Z" error={errors.get("/start_at")} />}
      </div>
      <div data-pointer="/tags">
        <TextArea label="Tags" value={options.tags} onChange={(tags) => set({ tags })} rows={2} placeholder="team=finance" hint="One name=value a line. Runs can be found by them." error={errors.get("/tags")} optional />
      </div>
      <div data-pointer="/key" className={css["keyField"]}>
        <TextField
          label="Idempotency key"
          mono
          value={options.key}
          onChange={(key) => set({ key })}
          hint="The same key of the same flow, while it binds (a week), is the same run: pressing Start twice starts one. This one was made for this form; empty it for none."
          error={errors.get("/key")}
          optional
        />
        <Button small onClick={() => set({ key: newKey() })}>
          New key
        </Button>
      </div>
    </div>
  );
}
