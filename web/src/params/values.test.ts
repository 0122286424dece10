import { describe, expect, it } from "vitest";
import { parse, print, Raw, type Json } from "./json";
import { properties, rootField } from "./schema";
import { drawable, faults, formOf, fresh, initial, mask, others, withoutSecrets } from "./values";

const begin = (schema: Json): Json | undefined => initial(schema, rootField(schema));

describe("initial", () => {
  it("takes defaults, and what a required field can begin with", () => {
    expect(
      begin({
        type: "object",
        properties: {
          date: { type: "string" },
          region: { enum: ["eu", "us"], default: "eu" },
          rows: { type: "integer", default: 10 },
          notify: { type: "boolean" },
          maybe: { type: "boolean" },
          off: { type: "boolean", default: false },
          tags: { type: "array", items: {} },
          labels: { type: "object", additionalProperties: {} },
          v: { const: 2 },
          where: { type: "object", properties: { city: { type: "string", default: "Bonn" }, zip: { type: "string" } } },
          none: { type: "object", properties: { a: { default: 1 } } },
        },
        required: ["date", "notify", "tags", "labels", "v", "where"],
      }),
    ).toEqual({ region: "eu", rows: 10, notify: false, off: false, tags: [], labels: {}, v: 2, where: { city: "Bonn" } });
  });
  it("never begins with a secret", () => {
    expect(begin({ type: "object", properties: { key: { type: "string", writeOnly: true, default: "hunter2" } }, required: ["key"] })).toEqual({});
  });
  it("joins an object's default with its fields'", () => {
    expect(begin({ type: "object", default: { a: 2 }, properties: { a: { default: 1 }, b: { default: 1 } } })).toEqual({ a: 2, b: 1 });
  });
  it("ends in schemas that hold themselves", () => {
    const schema: Json = { $ref: "#/$defs/n", $defs: { n: { type: "object", properties: { n: { $ref: "#/$defs/n" } }, required: ["n"] } } };
    expect(print(begin(schema) ?? null).length).toBeLessThan(200);
  });
  it("takes the first of several forms", () => {
    expect(begin({ oneOf: [{ type: "object", properties: { mode: { const: "a" } }, required: ["mode"] }, { type: "string" }] })).toEqual({ mode: "a" });
  });
});

const add = (schema: Json) => fresh(schema, { ...rootField(schema), required: false });

it("adds something for every kind", () => {
  expect(add({ type: "string" })).toBe("");
  expect(add({ type: "integer" })).toEqual(new Raw(""));
  expect(add({ enum: ["a", "b"] })).toBe("a");
  expect(add({ type: "object", properties: { a: { default: 1 } } })).toEqual({ a: 1 });
  expect(add({ type: "array" , items: {} })).toEqual([]);
  expect(add({ type: ["boolean", "null"] })).toBe(false);
  expect(add({})).toEqual(new Raw(""));
});

const can = (schema: Json, value: Json | undefined) => drawable(schema, rootField(schema), value);

describe("drawable", () => {
  it("shows what is of the field's kind, and the rest as JSON", () => {
    expect(can({ type: "string" }, "x")).toBe(true);
    expect(can({ type: "string" }, 1)).toBe(false);
    expect(can({ type: "string" }, null)).toBe(false);
    expect(can({ type: ["string", "null"] }, null)).toBe(true);
    expect(can({ type: "integer" }, new Raw("9223372036854775807"))).toBe(true);
    expect(can({ type: "integer" }, new Raw("12a"))).toBe(true);
    expect(can({ type: "integer" }, new Raw("{"))).toBe(false);
    expect(can({ enum: ["a"] }, "b")).toBe(false);
    expect(can({ type: "array", items: {} }, {})).toBe(false);
    expect(can({ type: "array", items: {} }, undefined)).toBe(true);
    expect(can({ const: 1 }, 2)).toBe(false);
  });
});

describe("forms", () => {
  const schema: Json = {
    oneOf: [
      { type: "object", properties: { mode: { const: "day" }, date: { type: "string" } }, required: ["mode", "date"] },
      { type: "object", properties: { mode: { const: "range" }, from: { type: "string" } }, required: ["mode", "from"] },
      { type: "integer" },
    ],
  };
  const form = (value: Json) => formOf(schema, rootField(schema), value);
  it("are recognised by what they hold", () => {
    expect(form({ mode: "day", date: "x" })).toBe(0);
    expect(form({ mode: "range", from: "x" })).toBe(1);
    expect(form(3)).toBe(2);
    expect(form("text")).toBeUndefined();
  });
  it("are recognised before they are complete", () => {
    expect(form({ mode: "range" })).toBe(1);
    expect(form({})).toBe(0);
    expect(form(new Raw("1."))).toBe(2);
  });
});

it("knows fields that the schema does not name", () => {
  expect(others(rootField({ type: "object", properties: { a: {} } }), { a: 1, b: 2, toString: 3 })).toEqual(["b", "toString"]);
});

describe("faults", () => {
  const schema: Json = { type: "object", properties: { n: { type: "integer" }, list: { type: "array", items: { type: "number" } }, any: {}, s: { type: "string", writeOnly: true } } };
  const of = (value: Json) => faults(schema, rootField(schema), value);
  it("are texts that are no value yet", () => {
    expect(of({ n: new Raw("12a"), list: [1, new Raw("")], any: new Raw("{") }).map((f) => [f.pointer, f.text.slice(0, 21)])).toEqual([
      ["/n", "This is not a number."],
      ["/list/1", "Give a number."],
      ["/any", "This is not JSON: Exp"],
    ]);
  });
  it("are secrets that were masked, at any place", () => {
    expect(of({ s: mask, x: { y: [mask] } }).map((f) => f.pointer)).toEqual(["/s", "/x/y/0"]);
  });
  it("are none of what can be sent", () => {
    expect(of(parse('{"n":9223372036854775807,"list":[1.5],"any":{"a":null},"s":"typed"}'))).toEqual([]);
    expect(of({ n: new Raw(" 12 "), any: new Raw("[1]") })).toEqual([]);
  });
});

it("takes secrets out, or puts something in their place", () => {
  const schema: Json = {
    type: "object",
    properties: { key: { type: "string", writeOnly: true }, deep: { type: "array", items: { type: "object", properties: { pin: { type: "integer", writeOnly: "true" } } } }, open: { type: "string" } },
  };
  const root = rootField(schema);
  const value: Json = { key: "k", deep: [{ pin: 1, other: 2 }], open: "o", gone: mask };
  expect(withoutSecrets(schema, root, value, "SECRET")).toEqual({ key: "SECRET", deep: [{ pin: "SECRET", other: 2 }], open: "o", gone: "SECRET" });
  expect(withoutSecrets(schema, root, value, undefined)).toEqual({ deep: [{ other: 2 }], open: "o" });
});

it("goes from a form to JSON and back without losing anything", () => {
  const schema: Json = { type: "object", properties: { a: { type: "string" } }, additionalProperties: true };
  const text = '{"unknown":{"deep":[1,9223372036854775807]},"a":"x"}';
  const value = parse(text);
  expect(properties(schema, rootField(schema)).length).toBe(1);
  expect(print(value)).toBe(text);
});
