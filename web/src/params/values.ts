import { isList, isObject, pointer, print, Raw, settle, walk, type Json, type JsonObject, type Step } from "./json";
import { choices, fieldOf, forms, itemOf, properties, type Field } from "./schema";

/** What the API writes where a secret was. It is never sent back. */
export const mask = "•••";

/**
 * What a field begins with: its default, or if it is required what a form can begin with (the only value, no, an empty list or object).
 * Undefined: it is left out until somebody fills it in. Secrets never begin with anything.
 */
export function initial(root: Json, field: Field, depth = 0): Json | undefined {
  if (field.secret || depth > 8) return undefined;
  if (field.default !== undefined && field.kind !== "object") return field.default;
  if (!field.required && field.default === undefined) return undefined;
  switch (field.kind) {
    case "object":
      return { ...fields(root, field, depth), ...(isObject(field.default) ? field.default : {}) };
    case "list":
      return field.nullable ? undefined : [];
    case "map":
      return field.nullable ? undefined : {};
    case "boolean":
      return field.nullable ? undefined : false;
    case "constant":
      return field.schema["const"];
    case "forms": {
      const [first] = forms(root, field);
      return first && initial(root, { ...first, required: true }, depth + 1);
    }
    default:
      return undefined;
  }
}

/** What an object's fields begin with, those that begin with something. */
function fields(root: Json, field: Field, depth: number): JsonObject {
  const out: [string, Json][] = [];
  for (const p of properties(root, field)) {
    const value = initial(root, p, depth + 1);
    if (value !== undefined) out.push([p.name, value]);
  }
  return Object.fromEntries(out);
}

/** What a field begins with when somebody adds it, where it is not required: never undefined. */
export function fresh(root: Json, field: Field): Json {
  const value = initial(root, { ...field, required: true });
  if (value !== undefined) return value;
  const [first] = field.kind === "choice" ? choices(field) : [];
  switch (field.kind) {
    case "choice":
      return first ? first.value : null;
    case "number":
      return new Raw("");
    case "any":
      return new Raw("");
    case "list":
      return [];
    case "map":
    case "object":
      return {};
    case "boolean":
      return false;
    default:
      return "";
  }
}

/** Whether a form shows the value as its schema means it; else it is shown as JSON. What is not there can always be shown. */
export function drawable(root: Json, field: Field, value: Json | undefined): boolean {
  if (value === undefined) return true;
  if (value === null) return field.nullable || field.kind === "any";
  switch (field.kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number" || (value instanceof Raw && !/^\s*[[{"tfn]/u.test(value.text));
    case "boolean":
      return typeof value === "boolean";
    case "choice":
      return choices(field).some((c) => same(c.value, value));
    case "constant":
      return same(field.schema["const"] ?? null, value);
    case "list":
      return isList(value);
    case "map":
    case "object":
      return isObject(value);
    case "forms":
      return formOf(root, field, value) !== undefined;
    default:
      return true;
  }
}

const same = (a: Json, b: Json): boolean => print(a) === print(b);

/** The form that a value has, the first that it fits; undefined if it has none of them. */
export function formOf(root: Json, field: Field, value: Json): number | undefined {
  const all = forms(root, field);
  const found = all.findIndex((f) => fits(root, f, value));
  if (found >= 0) return found;
  // While it is filled in, a value may lack what its form requires.
  const begun = all.findIndex((f) => drawable(root, f, value) && f.kind !== "any" && constantsHold(root, f, value));
  return begun >= 0 ? begun : undefined;
}

const constantsHold = (root: Json, field: Field, value: Json): boolean => !isObject(value) || properties(root, field).every((p) => p.kind !== "constant" || value[p.name] === undefined || same(p.schema["const"] ?? null, value[p.name] ?? null));

/** Whether a value is of the field's kind, with all that it requires, at any depth. */
function fits(root: Json, field: Field, value: Json, depth = 0): boolean {
  if (depth > 20 || !drawable(root, field, value)) return false;
  if (value instanceof Raw) return field.kind === "number" || field.kind === "any";
  if (field.kind === "number" && field.schema["type"] === "integer" && typeof value === "number" && !Number.isInteger(value)) return false;
  if (isList(value) && field.kind === "list") {
    const item = itemOf(root, field);
    return !item || value.every((v) => fits(root, item, v, depth + 1));
  }
  if (!isObject(value) || (field.kind !== "object" && field.kind !== "map")) return true;
  const known = properties(root, field);
  if (known.some((p) => (value[p.name] === undefined ? p.required : !fits(root, p, value[p.name] ?? null, depth + 1)))) return false;
  return others(field, value).every((name) => itemOf(root, field) !== undefined && name !== "");
}

/** The fields of an object that its schema does not name. */
export function others(field: Field, value: JsonObject): string[] {
  const known = field.schema["properties"];
  return Object.keys(value).filter((name) => !(isObject(known) && Object.hasOwn(known, name)));
}

/** Something that keeps params from being sent. */
export interface Fault {
  pointer: string;
  text: string;
}

/** What cannot be sent: text that is no value yet, and secrets that the API had masked. The rest the API checks. */
export function faults(root: Json, field: Field, value: Json | undefined): Fault[] {
  const found: Fault[] = [];
  if (value === undefined) return found;
  const numbers = numberPlaces(root, field, value);
  walk(value, (v, path) => {
    const at = pointer(path);
    if (v === mask) found.push({ pointer: at, text: "This is a secret that the page is not told. Type it anew, or take it out." });
    if (v instanceof Raw && settle(v) === v) {
      if (isNumber(v.text)) return;
      found.push({ pointer: at, text: numbers.has(at) ? numberFault(v.text) : jsonFault(v.text) });
    }
  });
  return found;
}

const isNumber = (text: string): boolean => /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/u.test(text.trim());

const numberFault = (text: string): string => (text.trim() === "" ? "Give a number." : "This is not a number.");

function jsonFault(text: string): string {
  if (text.trim() === "") return "Give JSON, such as {}, [] or null.";
  try {
    JSON.parse(text);
    return "This is not JSON.";
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The places of fields that hold numbers. */
function numberPlaces(root: Json, field: Field, value: Json, path: readonly Step[] = []): Set<string> {
  if (field.kind === "number") return new Set([pointer(path)]);
  const found = new Set<string>();
  const into = (f: Field | undefined, v: Json, step: Step) => {
    if (f) for (const p of numberPlaces(root, f, v, [...path, step])) found.add(p);
  };
  if (field.kind === "forms") {
    const form = forms(root, field)[formOf(root, field, value) ?? -1];
    return form ? numberPlaces(root, form, value, path) : found;
  }
  if (isList(value) && field.kind === "list") for (const [i, v] of value.entries()) into(itemOf(root, field), v, i);
  if (isObject(value) && (field.kind === "object" || field.kind === "map")) {
    const known = field.schema["properties"];
    for (const [name, v] of Object.entries(value)) into(isObject(known) && Object.hasOwn(known, name) ? fieldOf(root, known[name], name, true) : itemOf(root, field), v, name);
  }
  return found;
}

/** The value without its secrets: those of the schema, and what the API had masked. `place` stands for them; undefined takes them out. */
export function withoutSecrets(root: Json, field: Field, value: Json, place: string | undefined): Json | undefined {
  if (field.secret || value === mask) return place;
  if (isList(value)) {
    const item = field.kind === "list" ? itemOf(root, field) : undefined;
    return value.flatMap((v) => withoutSecrets(root, item ?? anything, v, place) ?? []);
  }
  if (isObject(value)) {
    const form = field.kind === "forms" ? forms(root, field)[formOf(root, field, value) ?? -1] : field;
    const known = form?.schema["properties"];
    const rest = form ? itemOf(root, form) : undefined;
    const out: [string, Json][] = [];
    for (const [name, v] of Object.entries(value)) {
      const part = isObject(known) && Object.hasOwn(known, name) ? fieldOf(root, known[name], name, false) : rest;
      const shown = withoutSecrets(root, part ?? anything, v, place);
      if (shown !== undefined) out.push([name, shown]);
    }
    return Object.fromEntries(out);
  }
  return value;
}

const anything: Field = { kind: "any", schema: {}, name: "", title: "", description: undefined, required: false, nullable: false, secret: false, default: undefined };
