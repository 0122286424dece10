/**
 * JSON as people edit it. It differs from JSON.parse in two things: a number that JavaScript cannot hold exactly, such as an id of 19
 * digits, stays as it was written; and text that is not yet a value, such as `1.` or a half-written object, has a place.
 */

/** Text that stands where a value does, as it was typed. It means the value that it is JSON of, if it is. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON value, or an object or array with `Raw` somewhere in it. */
export type Json = null | boolean | number | string | Raw | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** Whether a value is an object, and no array, null or text. */
export const isObject = (v: unknown): v is JsonObject => typeof v === "object" && v !== null && !Array.isArray(v) && !(v instanceof Raw);

/** Whether a value is an array. */
export const isList = (v: unknown): v is readonly Json[] => Array.isArray(v);

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gu;

/** Reads JSON. It throws a SyntaxError that says where the text is wrong. */
export function parse(text: string): Json {
  const plain: Json = JSON.parse(text);
  let mark = "#";
  while (text.includes(mark)) mark += "#";
  let inexact = false;
  const marked = text.replaceAll(token, (t) => {
    if (t.startsWith('"') || exact(t)) return t;
    inexact = true;
    return `"${mark}${t}"`;
  });
  if (!inexact) return plain;
  return JSON.parse(marked, (_, v: Json) => (typeof v === "string" && v.startsWith(mark) ? new Raw(v.slice(mark.length)) : v));
}

/** Whether JavaScript's number is the one that is written. */
export const exact = (text: string): boolean => canonical(text) === canonical(String(Number(text)));

/** A number's digits without zeros around them, and its exponent. */
function canonical(text: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/u.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/u, "");
  const trimmed = digits.replace(/0+$/u, "");
  return trimmed === "" ? "0" : `${sign}${trimmed}e${Number(exponent) - fraction.length + digits.length - trimmed.length}`;
}

/** Writes a value as JSON. Text that is not JSON is written as it stands. `indent` is the blanks a level; none puts all in one line. */
export function print(value: Json, indent = 0): string {
  return write(settle(value), indent, "");
}

function write(value: Json, indent: number, margin: string): string {
  if (value instanceof Raw) return value.text;
  if (!isList(value) && !isObject(value)) return JSON.stringify(value);
  const inner = margin + " ".repeat(indent);
  const parts = isList(value) ? value.map((v) => write(v, indent, inner)) : Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}:${indent > 0 ? " " : ""}${write(v, indent, inner)}`);
  const [left, right] = isList(value) ? "[]" : "{}";
  if (parts.length === 0) return `${left}${right}`;
  return indent === 0 ? `${left}${parts.join(",")}${right}` : `${left}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${right}`;
}

/** The value with every text that is JSON replaced by what it means. */
export function settle(value: Json): Json {
  if (value instanceof Raw) {
    try {
      const meant = parse(value.text);
      return meant instanceof Raw ? value : meant;
    } catch {
      return value;
    }
  }
  if (isList(value)) return value.map(settle);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, settle(v)]));
  return value;
}

/** A step into a value: a field's name or an item's index. */
export type Step = string | number;

/** The JSON pointer (RFC 6901) of a place. */
export const pointer = (path: readonly Step[]): string => path.map((s) => `/${String(s).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Calls `visit` with every value within a value, and with the value itself, outermost first. */
export function walk(value: Json, visit: (value: Json, path: readonly Step[]) => void, path: readonly Step[] = []): void {
  visit(value, path);
  if (isList(value)) for (const [i, v] of value.entries()) walk(v, visit, [...path, i]);
  else if (isObject(value)) for (const [k, v] of Object.entries(value)) walk(v, visit, [...path, k]);
}

/** The object with a field set, in its place or at the end, or taken out if the value is undefined. */
export function withField(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  if (value === undefined) return Object.fromEntries(Object.entries(object).filter(([k]) => k !== name));
  return { ...object, [name]: value };
}

/** The object with a field that has another name, in its place. */
export const withName = (object: JsonObject, from: string, to: string): JsonObject => Object.fromEntries(Object.entries(object).map(([k, v]) => [k === from ? to : k, v]));

/** The list with an item at another place. */
export function moved<T>(list: readonly T[], from: number, to: number): readonly T[] {
  if (from === to || from < 0 || to < 0 || from >= list.length || to >= list.length) return list;
  const out = [...list];
  out.splice(to, 0, ...out.splice(from, 1));
  return out;
}

/** A value for comparing: whole numbers beyond what JavaScript holds are bigints, other texts are texts. */
export function comparable(value: Json): unknown {
  const v = settle(value);
  if (v instanceof Raw) return /^-?\d+$/u.test(v.text) ? BigInt(v.text) : v.text;
  if (isList(v)) return v.map(comparable);
  if (isObject(v)) return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, comparable(x)]));
  return v;
}
