import { use } from "react";
import { isList, isObject, pointer, print, Raw, type Json, type Step } from "../../params/json";
import type { Field } from "../../params/schema";
import { drawable, fresh, initial, mask } from "../../params/values";
import { Button } from "../../ui/Button";
import { ChoiceField, ConstantField, NumberInput, SecretField, TextInput } from "./inputs";
import { FormContext } from "./formContext";
import css from "./FieldView.module.css";
import { FormsField, ListField, MapField, ObjectField } from "./nested";
import { RawField } from "./RawField";

/** One part of the params: its value, where it stands, and how it is changed; undefined leaves it out. */
export interface PartProps {
  field: Field;
  value: Json | undefined;
  path: readonly Step[];
  onChange: (value: Json | undefined) => void;
}

/** Draws a field as its schema and its value allow: what it cannot draw is edited as JSON. */
export function FieldView(props: PartProps) {
  const { root, errors, changed, touch } = use(FormContext);
  const { field, value, path, onChange } = props;
  const at = pointer(path);
  const error = errors.get(at);
  const body = part(root, props, error);
  return (
    <div
      className={css["part"]}
      data-pointer={at}
      data-changed={changed.has(at) || undefined}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) touch(at);
      }}
    >
      {body}
      {field.nullable && (
        <Button kind="quiet" small className={css["null"]} aria-pressed={value === null} onClick={() => onChange(value === null ? fresh(root, { ...field, nullable: false }) : null)}>
          {value === null ? "Give a value instead of null" : "Set to null"}
        </Button>
      )}
    </div>
  );
}

function part(root: Json, props: PartProps, error: string | undefined): React.ReactNode {
  const { field, value, path, onChange } = props;
  const label = field.title || "Value";
  if (field.nullable && value === null) return <Note field={field} text="null" error={error} />;
  if (field.secret && (value === mask || ((field.kind === "text" || field.kind === "number" || field.kind === "any") && (value === undefined || typeof value === "string" || value instanceof Raw)))) return <SecretField {...props} error={error} />;
  if (!drawable(root, field, value)) return <RawField {...props} error={error} note={`It is not ${kindName(field)}, so that it is shown as JSON.`} />;
  // What is optional, large and not there takes a line until somebody adds it.
  if (value === undefined && ["object", "list", "map", "forms", "any", "boolean"].includes(field.kind)) {
    const begin = initial(root, { ...field, required: true });
    return (
      <Note field={field} text={field.required ? "required, not given" : "not given"} error={error}>
        <Button small onClick={() => onChange(begin ?? fresh(root, field))} aria-label={`Add ${label}`}>
          Add
        </Button>
      </Note>
    );
  }
  switch (field.kind) {
    case "text":
      return <TextInput {...props} error={error} />;
    case "number":
      return <NumberInput {...props} error={error} />;
    case "choice":
    case "boolean":
      return <ChoiceField {...props} error={error} />;
    case "constant":
      return <ConstantField {...props} error={error} />;
    case "object":
      return isObject(value) ? <ObjectField {...props} value={value} error={error} /> : null;
    case "map":
      return isObject(value) ? <MapField {...props} value={value} error={error} /> : null;
    case "list":
      return isList(value) ? <ListField {...props} value={value} error={error} /> : null;
    case "forms":
      return value === undefined ? null : <FormsField {...props} value={value} error={error} />;
    case "any":
      return <RawField field={field} path={path} value={value ?? new Raw("")} onChange={onChange} error={error} />;
  }
}

const kinds: Record<Field["kind"], string> = { text: "a text", number: "a number", boolean: "true or false", choice: "one of the choices", constant: "the only value allowed", object: "an object", list: "a list", map: "an object", forms: "of any of its forms", any: "JSON" };
const kindName = (field: Field): string => kinds[field.kind];

/** A field without an input: its name, what it is now, and what can be done. */
function Note({ field, text, error, children }: { field: Field; text: string; error: string | undefined; children?: React.ReactNode }) {
  return (
    <div className={css["note"]}>
      <span className={css["noteHead"]}>
        <span className={css["label"]}>{field.title || "Value"}</span>
        <span className={css["absent"]}>{text}</span>
        {children}
      </span>
      {field.description && <span className={css["hint"]}>{field.description}</span>}
      {error && (
        <span className={css["bad"]} role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

/** What stands below an input: the field's description and its default. */
export function hintOf(field: Field): React.ReactNode {
  const fallback = field.default === undefined || field.secret ? undefined : `Default: ${typeof field.default === "string" && field.default !== "" ? field.default : print(field.default)}`;
  return [field.description, fallback].filter((s) => s).join(" · ") || undefined;
}
