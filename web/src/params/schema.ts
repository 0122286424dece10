import { isList, isObject, print, type Json, type JsonObject } from "./json";

/**
 * A JSON Schema (2020-12) read as the fields of a form. What it cannot draw becomes a field of kind `any`, which is edited as JSON: it never
 * guesses. Whether a value holds to the schema the API says.
 */
export interface Field {
  kind: "text" | "number" | "boolean" | "choice" | "constant" | "object" | "list" | "map" | "forms" | "any";
  /** Its schema with references followed and `null` taken out. */
  schema: JsonObject;
  /** Its key in the object that it belongs to; empty for items and for the whole. */
  name: string;
  /** What stands above it: the schema's title, else its name. */
  title: string;
  description: string | undefined;
  required: boolean;
  nullable: boolean;
  /** The API never shows it: `writeOnly`. */
  secret: boolean;
  /** The schema's default; undefined if it has none. */
  default: Json | undefined;
}

/** The schemas that say nothing. */
const nothing: JsonObject = {};

/** The field that a schema as a whole is. */
export const rootField = (root: Json): Field => fieldOf(root, root, "", true);

/** The field that a part of a schema is. `root` is the whole schema, for references. */
export function fieldOf(root: Json, part: Json | undefined, name: string, required: boolean): Field {
  const { schema, nullable } = withoutNull(root, resolve(root, part ?? nothing));
  return {
    kind: kindOf(schema),
    schema,
    name,
    title: text(schema["title"]) ?? name,
    description: text(schema["description"]),
    required,
    nullable,
    secret: schema["writeOnly"] !== undefined && schema["writeOnly"] !== false && schema["writeOnly"] !== "false",
    default: schema["default"],
  };
}

/** The fields of an object that its schema knows, in the schema's order. */
export function properties(root: Json, field: Field): Field[] {
  const known = field.schema["properties"];
  const required = strings(field.schema["required"]);
  return isObject(known) ? Object.entries(known).map(([name, part]) => fieldOf(root, part, name, required.includes(name))) : [];
}

/** What the items of a list, or the values of a map and an object's other fields are; undefined where there may be none. */
export function itemOf(root: Json, field: Field): Field | undefined {
  const part = field.kind === "list" ? field.schema["items"] : field.schema["additionalProperties"];
  return part === false ? undefined : fieldOf(root, part, "", true);
}

/** The forms that a value may have, where its schema says `oneOf` or `anyOf`. */
export function forms(root: Json, field: Field): Field[] {
  const list = field.schema["oneOf"] ?? field.schema["anyOf"];
  if (!isList(list)) return [];
  return list.map((part, i) => {
    const form = fieldOf(root, part, field.name, field.required);
    return form.schema["title"] === undefined ? { ...form, title: formName(root, form) ?? `Form ${i + 1}` } : form;
  });
}

/** What a form without a title is called: by a field that tells it apart, or by what it is. */
function formName(root: Json, form: Field): string | undefined {
  const constant = properties(root, form).find((p) => p.kind === "constant");
  if (constant) return `${constant.title} ${print(constant.schema["const"] ?? null)}`;
  const names: Partial<Record<Field["kind"], string>> = { text: "Text", number: "Number", boolean: "Yes or no", list: "List", map: "Names and values", object: "Object", choice: "Choice" };
  return names[form.kind];
}

/** One of the values of a choice. */
export interface Choice {
  value: Json;
  label: string;
}

/** The values of a choice, with the titles that the schema gives them. */
export function choices(field: Field): Choice[] {
  const { enum: values, oneOf, anyOf } = field.schema;
  if (isList(values)) return values.filter((v) => v !== null || !field.nullable).map((value) => ({ value, label: typeof value === "string" ? value : print(value) }));
  const list = isList(oneOf) ? oneOf : isList(anyOf) ? anyOf : [];
  return list.filter(isObject).map((s) => ({ value: s["const"] ?? null, label: text(s["title"]) ?? (typeof s["const"] === "string" ? s["const"] : print(s["const"] ?? null)) }));
}

/** Follows references and joins `allOf`. What stands beside a reference counts more than what it refers to. */
function resolve(root: Json, part: Json, hops = 0): JsonObject {
  if (!isObject(part)) return part === false ? { not: {} } : nothing;
  const ref = part["$ref"];
  if (typeof ref === "string") {
    const target = hops < 32 ? at(root, ref) : undefined;
    if (target === undefined) return { ...omit(part, "$ref"), not: {} };
    return join(resolve(root, target, hops + 1), omit(part, "$ref"));
  }
  const all = part["allOf"];
  if (isList(all) && hops < 32) return all.map((one) => resolve(root, one, hops + 1)).reduceRight((whole, one) => join(one, whole), omit(part, "allOf"));
  return part;
}

/** Two schemas that both must hold, as one. `over` counts more; fields and what is required are united. */
function join(under: JsonObject, over: JsonObject): JsonObject {
  const a = under["properties"];
  const b = over["properties"];
  return {
    ...under,
    ...over,
    ...(isObject(a) && isObject(b) ? { properties: { ...a, ...b } } : {}),
    ...(under["required"] && over["required"] ? { required: [...new Set([...strings(under["required"]), ...strings(over["required"])])] } : {}),
  };
}

/** Takes `null` out of the types that are allowed, and says whether it was there. */
function withoutNull(root: Json, schema: JsonObject): { schema: JsonObject; nullable: boolean } {
  const type = schema["type"];
  if (isList(type)) {
    const rest = type.filter((t) => t !== "null");
    const [only] = rest;
    return { schema: rest.length === 1 && only !== undefined ? { ...schema, type: only } : rest.length === 0 ? schema : { ...schema, type: rest }, nullable: rest.length < type.length && rest.length > 0 };
  }
  for (const word of ["oneOf", "anyOf"]) {
    const list = schema[word];
    if (!isList(list)) continue;
    const rest = list.filter((one) => !(isObject(one) && (one["type"] === "null" || one["const"] === null)));
    if (rest.length === list.length || rest.length === 0) continue;
    const [only] = rest;
    if (rest.length === 1 && only !== undefined) return { schema: join(resolve(root, only), omit(schema, word)), nullable: true };
    return { schema: { ...schema, [word]: rest }, nullable: true };
  }
  return { schema, nullable: isList(schema["enum"]) && schema["enum"].includes(null) && schema["enum"].length > 1 };
}

/** Words that a form cannot show: a value is then edited as JSON. */
const beyond = ["not", "if", "then", "else", "patternProperties", "propertyNames", "dependentSchemas", "dependentRequired", "prefixItems", "contains", "unevaluatedProperties", "unevaluatedItems", "$dynamicRef"];

function kindOf(schema: JsonObject): Field["kind"] {
  if (beyond.some((word) => schema[word] !== undefined)) return "any";
  if (schema["const"] !== undefined) return "constant";
  if (isList(schema["enum"])) return schema["enum"].every((v) => !isList(v) && !isObject(v)) ? "choice" : "any";
  const alternatives = schema["oneOf"] ?? schema["anyOf"];
  if (isList(alternatives)) {
    if (alternatives.every((one) => isObject(one) && one["const"] !== undefined && !isObject(one["const"]) && !isList(one["const"]))) return "choice";
    // Fields of its own beside the forms would have to be shown in each of them.
    return alternatives.length > 1 && schema["properties"] === undefined ? "forms" : "any";
  }
  switch (schema["type"] ?? (isObject(schema["properties"]) ? "object" : schema["items"] === undefined ? undefined : "array")) {
    case "string":
      return "text";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "boolean";
    case "array":
      return "list";
    case "object": {
      const known = schema["properties"];
      if (isObject(known) && Object.keys(known).length > 0) return "object";
      return schema["additionalProperties"] === false ? "object" : "map";
    }
    default:
      return "any";
  }
}

/** What a reference within the schema points at. */
function at(root: Json, ref: string): Json | undefined {
  if (!ref.startsWith("#")) return undefined;
  let here: Json | undefined = root;
  for (const step of ref.slice(1).split("/").slice(1)) {
    const name = decode(step).replaceAll("~1", "/").replaceAll("~0", "~");
    here = isObject(here) && Object.hasOwn(here, name) ? here[name] : isList(here) ? here[Number(name)] : undefined;
  }
  return here;
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

const text = (v: Json | undefined): string | undefined => (typeof v === "string" && v !== "" ? v : undefined);
const strings = (v: Json | undefined): string[] => (isList(v) ? v.filter((s) => typeof s === "string") : []);
const omit = (schema: JsonObject, word: string): JsonObject => Object.fromEntries(Object.entries(schema).filter(([k]) => k !== word));
