import { print, Raw, settle } from "../../params/json";
import { TextArea } from "../../ui/TextArea";
import { hintOf, type PartProps } from "./FieldView";

/** A part of the params as JSON, for what no input can show. Text that is not JSON is kept as it was typed, and said to be none. */
export function RawField({ field, value, path, onChange, error, note }: PartProps & { error: string | undefined; note?: string }) {
  const text = value === undefined ? "" : value instanceof Raw ? value.text : print(value, 2);
  const last = path.at(-1);
  return (
    <TextArea
      mono
      label={`${field.title || (last === undefined ? "Params" : typeof last === "number" ? `Item ${last + 1}` : last)} (JSON)`}
      rows={Math.min(12, Math.max(2, text.split("\n").length))}
      value={text}
      optional={!field.required}
      spellCheck={false}
      hint={[note, hintOf(field)].filter((s) => s).join(" ") || undefined}
      error={error}
      onChange={(next) => onChange(new Raw(next))}
      onBlur={() => {
        // Emptied, and left so: it is left out.
        if (value instanceof Raw && value.text.trim() === "") onChange(undefined);
        else if (value instanceof Raw) {
          const meant = settle(value);
          if (meant !== value) onChange(meant);
        }
      }}
    />
  );
}
