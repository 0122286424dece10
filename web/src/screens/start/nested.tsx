import { use, useState } from "react";
import { isObject, moved, withField, withName, type Json, type JsonObject } from "../../params/json";
import { forms, itemOf, properties, type Field } from "../../params/schema";
import { formOf, fresh, initial, others } from "../../params/values";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { FieldView, type PartProps } from "./FieldView";
import { FormContext } from "./formContext";
import css from "./FieldView.module.css";

type Props<V extends Json> = Omit<PartProps, "value"> & { value: V; error: string | undefined };

/** A group with a heading. The params as a whole have none. */
function Group({ field, path, onChange, error, children, count }: Omit<PartProps, "value"> & { error: string | undefined; children: React.ReactNode; count?: number }) {
  if (path.length === 0) {
    return (
      <>
        {error && (
          <p className={css["bad"]} role="alert">
            {error}
          </p>
        )}
        {children}
      </>
    );
  }
  const last = path.at(-1);
  return (
    <fieldset className={css["group"]}>
      <legend className={css["legend"]}>
        {field.title || (typeof last === "number" ? `Item ${last + 1}` : last)}
        {count !== undefined && <span className={css["count"]}> {count}</span>}
        {!field.required && (
          <Button kind="quiet" small onClick={() => onChange(undefined)} aria-label={`Leave ${field.title || "it"} out`}>
            Leave out
          </Button>
        )}
      </legend>
      {field.description && <p className={css["hint"]}>{field.description}</p>}
      {error && (
        <p className={css["bad"]} role="alert">
          {error}
        </p>
      )}
      {children}
    </fieldset>
  );
}

/** An object: the fields that its schema names, then what else it holds. */
export function ObjectField(p: Props<JsonObject>) {
  const { root } = use(FormContext);
  const { field, value, path, onChange } = p;
  const set = (name: string, v: Json | undefined) => onChange(withField(value, name, v));
  return (
    <Group {...p}>
      <div className={css["fields"]} data-whole={path.length === 0 || undefined}>
        {properties(root, field).map((f) => (
          <FieldView key={f.name} field={f} value={Object.hasOwn(value, f.name) ? value[f.name] : undefined} path={[...path, f.name]} onChange={(v) => set(f.name, v)} />
        ))}
      </div>
      <Others {...p} />
    </Group>
  );
}

/** Fields of an object that its schema does not name: they are kept, can be changed and taken out, and added where the schema allows any. */
function Others(p: Props<JsonObject>) {
  const { root } = use(FormContext);
  const { field, value } = p;
  const names = others(field, value);
  const item = itemOf(root, field);
  if (names.length === 0 && (!item || field.schema["additionalProperties"] === undefined)) return null;
  return (
    <div className={css["others"]}>
      {names.length > 0 && <p className={css["hint"]}>{item ? "Further fields" : "The schema does not know these fields; the API will refuse them."}</p>}
      <Entries {...p} names={names} item={item} />
    </div>
  );
}

/** An object whose names are up to the reader. */
export function MapField(p: Props<JsonObject>) {
  const { root } = use(FormContext);
  return (
    <Group {...p} count={Object.keys(p.value).length}>
      <Entries {...p} names={Object.keys(p.value)} item={itemOf(root, p.field)} />
    </Group>
  );
}

const anything: Field = { kind: "any", schema: {}, name: "", title: "", description: undefined, required: true, nullable: false, secret: false, default: undefined };

function Entries({ field, value, path, onChange, names, item }: Props<JsonObject> & { names: readonly string[]; item: Field | undefined }) {
  const { root } = use(FormContext);
  const [name, setName] = useState("");
  const fault = name !== "" && Object.hasOwn(value, name) ? `There is a ${name} already.` : undefined;
  const add = () => {
    if (name === "" || fault || !item) return;
    onChange({ ...value, [name]: fresh(root, item) });
    setName("");
  };
  const part = item ?? anything;
  return (
    <>
      {names.map((n, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- a name changes while it is typed; the place does not
        <div key={i} className={css["entry"]}>
          <EntryName name={n} taken={(other) => other !== n && Object.hasOwn(value, other)} onRename={(to) => onChange(withName(value, n, to))} />
          <FieldView field={{ ...part, name: n, title: part.title || "Value", required: true }} value={value[n]} path={[...path, n]} onChange={(v) => onChange(withField(value, n, v ?? fresh(root, part)))} />
          <Button kind="quiet" small aria-label={`Take out ${n}`} title={`Take out ${n}`} onClick={() => onChange(withField(value, n, undefined))}>
            <Icon name="close" size={12} />
          </Button>
        </div>
      ))}
      {item && (
        <div className={css["add"]}>
          <TextField
            bare
            label={`Name of another field of ${field.title || "it"}`}
            placeholder="Name"
            value={name}
            onChange={setName}
            error={fault}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              add();
            }}
          />
          <Button small onClick={add} disabled={name === "" || fault !== undefined}>
            Add
          </Button>
        </div>
      )}
    </>
  );
}

function EntryName({ name, taken, onRename }: { name: string; taken: (name: string) => boolean; onRename: (name: string) => void }) {
  const [text, setText] = useState<string>();
  const shown = text ?? name;
  const fault = shown === "" ? "Give it a name." : taken(shown) ? `There is a ${shown} already.` : undefined;
  return (
    <TextField
      label="Name"
      mono
      value={shown}
      error={fault}
      onChange={setText}
      onBlur={() => {
        if (!fault && shown !== name) onRename(shown);
        setText(undefined);
      }}
    />
  );
}

/** A list: its items can be added, taken out and moved. */
export function ListField(p: Props<readonly Json[]>) {
  const { root } = use(FormContext);
  const { field, value, path, onChange } = p;
  const item = itemOf(root, field) ?? anything;
  const most = field.schema["maxItems"];
  const full = typeof most === "number" && value.length >= most;
  const name = field.title || "it";
  return (
    <Group {...p} count={value.length}>
      <ol className={css["items"]}>
        {value.map((v, i) => (
          // oxlint-disable-next-line react/no-array-index-key -- items have no names; inputs hold no state that would have to move with them
          <li key={i} className={css["item"]}>
            <FieldView field={{ ...item, required: true }} value={v} path={[...path, i]} onChange={(next) => onChange(value.with(i, next ?? fresh(root, item)))} />
            <span className={css["itemActs"]}>
              <Button kind="quiet" small disabled={i === 0} aria-label={`Move item ${i + 1} of ${name} up`} onClick={() => onChange(moved(value, i, i - 1))}>
                <Icon name="up" size={12} />
              </Button>
              <Button kind="quiet" small disabled={i === value.length - 1} aria-label={`Move item ${i + 1} of ${name} down`} onClick={() => onChange(moved(value, i, i + 1))}>
                <Icon name="down" size={12} />
              </Button>
              <Button kind="quiet" small aria-label={`Take out item ${i + 1} of ${name}`} onClick={() => onChange(value.filter((_, j) => j !== i))}>
                <Icon name="close" size={12} />
              </Button>
            </span>
          </li>
        ))}
      </ol>
      <Button small disabled={full} title={full ? `At most ${most} items` : undefined} onClick={() => onChange([...value, fresh(root, item)])} aria-label={`Add an item to ${name}`}>
        <Icon name="plus" size={12} /> Add item
      </Button>
    </Group>
  );
}

/** A value that may have one of several forms. */
export function FormsField(p: Props<Json>) {
  const { root } = use(FormContext);
  const { field, value, path, onChange, error } = p;
  const all = forms(root, field);
  const at = formOf(root, field, value) ?? 0;
  const form = all[at];
  const choose = (i: number) => {
    const next = all[i];
    if (!next) return;
    const begun = initial(root, { ...next, required: true }) ?? fresh(root, next);
    // What both forms have is kept.
    const kept = isObject(begun) && isObject(value) ? Object.fromEntries(properties(root, next).flatMap((q) => (q.kind !== "constant" && value[q.name] !== undefined ? [[q.name, value[q.name] ?? null]] : []))) : {};
    onChange(isObject(begun) ? { ...begun, ...kept } : begun);
  };
  return (
    <div className={css["forms"]}>
      <Select label={field.title || "Form"} value={String(at)} onChange={(i) => choose(Number(i))} options={all.map((f, i) => ({ value: String(i), label: f.title }))} hint={field.description} error={error} />
      {form && <FieldView field={{ ...form, name: field.name, required: true, nullable: false }} value={value} path={path} onChange={onChange} />}
    </div>
  );
}
