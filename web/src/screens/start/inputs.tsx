import { print, Raw, type Json } from "../../params/json";
import { choices } from "../../params/schema";
import { mask } from "../../params/values";
import { Button } from "../../ui/Button";
import { Select } from "../../ui/Select";
import { TextArea } from "../../ui/TextArea";
import { TextField } from "../../ui/TextField";
import { hintOf, type PartProps } from "./FieldView";
import css from "./FieldView.module.css";
import { describeText, inputType } from "./formats";

type Props = PartProps & { error: string | undefined };

const labelOf = (p: Props): string => p.field.title || (typeof p.path.at(-1) === "number" ? `Item ${Number(p.path.at(-1)) + 1}` : "Value");

/** A text, as its format wants it. An emptied field that may be left out is left out. */
export function TextInput(p: Props) {
  const { field, value, onChange, error } = p;
  const text = typeof value === "string" ? value : "";
  const schema = field.schema;
  const format = typeof schema["format"] === "string" ? schema["format"] : "";
  const long = text.includes("\n") || text.length > 120 || (typeof schema["maxLength"] === "number" && schema["maxLength"] > 500);
  const shared = {
    label: labelOf(p),
    value: text,
    optional: !field.required,
    hint: hintOf(field) ?? describeText(field),
    error,
    // What cannot be left out and has no text is missing, and the API says so; an empty text has to be written as JSON.
    onChange: (next: string) => onChange(next === "" ? undefined : next),
    placeholder: value === "" ? "empty text" : typeof schema["examples"] === "object" && Array.isArray(schema["examples"]) && typeof schema["examples"][0] === "string" ? schema["examples"][0] : format === "date-time" ? "2026-11-29T08:00:00Z" : format === "duration" ? "PT1H30M" : undefined,
    "aria-required": field.required || undefined,
  };
  if (long) return <TextArea {...shared} rows={4} />;
  return (
    <div className={css["withButton"]}>
      <TextField {...shared} type={inputType(format, text)} autoComplete="off" spellCheck={false} mono={["date-time", "uuid", "duration", "uri"].includes(format)} />
      {format === "date-time" && (
        <Button small onClick={() => onChange(new Date().toISOString().replace(/\.\d+Z$/u, "Z"))} aria-label={`Set ${labelOf(p)} to now`}>
          Now
        </Button>
      )}
      {format === "uuid" && (
        <Button small onClick={() => onChange(crypto.randomUUID())} aria-label={`Make a new ${labelOf(p)}`}>
          New
        </Button>
      )}
    </div>
  );
}

/** A number. What is typed stays as it is; it is a number in the params once it is one. */
export function NumberInput(p: Props) {
  const { field, value, onChange, error } = p;
  const text = value instanceof Raw ? value.text : typeof value === "number" ? print(value) : "";
  return (
    <TextField
      label={labelOf(p)}
      value={text}
      inputMode={field.schema["type"] === "integer" ? "numeric" : "decimal"}
      autoComplete="off"
      optional={!field.required}
      hint={[hintOf(field), rangeOf(field.schema)].filter((x) => x).join(" · ") || undefined}
      error={error}
      aria-required={field.required || undefined}
      onChange={(next) => onChange(next.trim() === "" ? undefined : asNumber(next))}
    />
  );
}

/** A number as it was typed: `1.` and `1e` stay what they are until they are numbers. */
function asNumber(text: string): Json {
  const n = Number(text);
  return /^-?(0|[1-9]\d*)(\.\d+)?$/u.test(text) && String(n) === text ? n : new Raw(text);
}

function rangeOf(schema: { readonly [name: string]: Json }): string | undefined {
  const say = (word: string, text: string): string | undefined => {
    const v = schema[word];
    return v === undefined ? undefined : `${text} ${print(v)}`;
  };
  const parts = [say("minimum", "at least"), say("exclusiveMinimum", "more than"), say("maximum", "at most"), say("exclusiveMaximum", "less than"), say("multipleOf", "a multiple of")].filter((s) => s !== undefined);
  return [...(schema["type"] === "integer" && parts.length === 0 ? ["a whole number"] : []), ...parts].join(", ") || undefined;
}

/** One of several values, true and false among them. */
export function ChoiceField(p: Props) {
  const { field, value, onChange, error } = p;
  const all = field.kind === "boolean" ? [{ value: true, label: "yes" }, { value: false, label: "no" }] : choices(field);
  const at = value === undefined ? "" : String(all.findIndex((c) => print(c.value) === print(value)));
  return (
    <Select
      label={labelOf(p) + (field.required ? "" : " (optional)")}
      value={at}
      onChange={(i) => onChange(i === "" ? undefined : all[Number(i)]?.value)}
      options={[...(field.required ? [] : [{ value: "", label: "not given" }]), ...all.map((c, i) => ({ value: String(i), label: c.label === "" ? "(empty text)" : c.label }))]}
      placeholder={field.required ? "Choose" : "not given"}
      hint={hintOf(field)}
      error={error}
    />
  );
}

/** The only value that is allowed. */
export function ConstantField(p: Props) {
  const { field, value, onChange, error } = p;
  const only = field.schema["const"] ?? null;
  return (
    <Select
      label={labelOf(p)}
      value={value === undefined ? "" : "it"}
      onChange={(v) => onChange(v === "" ? undefined : only)}
      options={[...(field.required ? [] : [{ value: "", label: "not given" }]), { value: "it", label: typeof only === "string" ? only : print(only) }]}
      placeholder="not given"
      hint={hintOf(field)}
      error={error}
    />
  );
}

/** A secret. The page is never told what it was, so that it begins empty and is typed anew. */
export function SecretField(p: Props) {
  const { field, value, onChange, error } = p;
  const withheld = value === mask;
  const label = labelOf(p);
  return (
    <div className={css["withButton"]}>
      <TextField
        label={label}
        type="password"
        value={withheld ? "" : value instanceof Raw ? value.text : typeof value === "string" ? value : ""}
        autoComplete="new-password"
        optional={!field.required}
        hint={[field.description, "A secret: it is not shown again once the run is started."].filter((s) => s).join(" · ")}
        error={error ?? (withheld ? "The page is not told what it was: type it anew." : undefined)}
        placeholder={withheld ? "type it anew" : undefined}
        aria-required={field.required || undefined}
        // A secret that is no text, such as a PIN, is typed as JSON would have it.
        onChange={(next) => onChange(next === "" ? (withheld ? mask : undefined) : field.kind === "text" ? next : new Raw(next))}
      />
      {withheld && !field.required && (
        <Button small onClick={() => onChange(undefined)} aria-label={`Leave ${label} out`}>
          Leave it out
        </Button>
      )}
    </div>
  );
}
