import type { Schemas } from "../api/client";
import { Checkbox } from "../ui/Checkbox";
import { NumberField } from "../ui/NumberField";
import { Segmented } from "../ui/Segmented";
import { TextArea } from "../ui/TextArea";
import { TextField } from "../ui/TextField";
import css from "./ActDialog.module.css";
import type { ActInput } from "./request";
import type { Verb } from "./verbs";

type Level = Schemas["Level"] | "declared";

/** What the fields of verbs hold while they are filled in. */
export interface FieldValues {
  force: boolean;
  level: Level | undefined;
  output: string;
  stage: string;
  canary: number | undefined;
  per_second: number | undefined;
}

/** What they hold at first. */
export const startFields: FieldValues = { force: false, level: undefined, output: "", stage: "", canary: 10, per_second: undefined };

/** What is sent of the fields that a verb has, and what is missing or wrong. */
export function inputOf(verb: Verb, v: FieldValues): { input: Omit<ActInput, "dry_run" | "reason">; problem: string | undefined } {
  const input: Omit<ActInput, "dry_run" | "reason"> = {};
  let problem: string | undefined;
  for (const field of verb.fields ?? []) {
    if (field === "force" && v.force) input.force = true;
    if (field === "level") {
      if (v.level === undefined) problem = "Choose a level first.";
      else if (v.level === "declared") input.declared = true;
      else input.level = v.level;
    }
    if (field === "stage") {
      if (v.stage.trim() === "") problem = "Name the stage first.";
      else input.stage = v.stage.trim();
    }
    if (field === "output" && v.output.trim() !== "") {
      try {
        input.output = JSON.parse(v.output);
      } catch {
        problem = "The output is not valid JSON.";
      }
    }
    if (field === "canary" && v.canary !== undefined) input.canary = v.canary;
    if (field === "per_second" && v.per_second !== undefined) input.per_second = v.per_second;
  }
  return { input, problem };
}

const levels: readonly { value: Level; label: string; title?: string }[] = [
  { value: "P0", label: "P0", title: "The most urgent" },
  { value: "P1", label: "P1" },
  { value: "P2", label: "P2", title: "The default" },
  { value: "P3", label: "P3" },
  { value: "P4", label: "P4" },
  { value: "P5", label: "P5", title: "The least urgent" },
  { value: "declared", label: "As declared", title: "What the flow and the start said" },
];

/** The inputs of the fields that a verb has. */
export function ActFields({ verb, values: v, onChange, errors, problem }: { verb: Verb; values: FieldValues; onChange: (values: FieldValues) => void; errors: ReadonlyMap<string, string>; problem: string | undefined }) {
  const set = (change: Partial<FieldValues>) => onChange({ ...v, ...change });
  return (verb.fields ?? []).map((field) => {
    switch (field) {
      case "force":
        return <Checkbox key={field} label="By force" hint="At once: what runs is given up, and teardowns do not run." checked={v.force} onChange={(force) => set({ force })} />;
      case "level":
        return (
          <div key={field} className={css["level"]}>
            <span aria-hidden>Level</span>
            <Segmented label="Level" value={v.level ?? ""} onChange={(level) => level !== "" && set({ level })} options={levels as readonly { value: Level | ""; label: string }[]} />
          </div>
        );
      case "output":
        return <TextArea key={field} label="Output" optional mono rows={3} spellCheck={false} value={v.output} onChange={(output) => set({ output })} placeholder='{"rows": 0}' hint="JSON: what it then counts as having returned." error={errors.get("/output") ?? (problem?.includes("JSON") ? problem : undefined)} />;
      case "stage":
        return <TextField key={field} label="Stage" value={v.stage} onChange={(stage) => set({ stage })} autoComplete="off" error={errors.get("/stage")} />;
      case "canary":
        return <NumberField key={field} label="Canary" optional whole min={0} max={10_000} value={v.canary} onChange={(canary) => set({ canary })} hint="So many first; the rest only if all of them succeed. 0: no canary." error={errors.get("/canary")} />;
      case "per_second":
        return <NumberField key={field} label="Rate" optional min={0} max={100_000} unit="/s" value={v.per_second} onChange={(per_second) => set({ per_second })} hint="Empty: as fast as it goes." error={errors.get("/per_second")} />;
    }
  });
}
