import { describe, expect, it } from "vitest";
import type { Json } from "./json";
import { choices, forms, itemOf, properties, rootField, type Field } from "./schema";

const kind = (schema: Json): Field["kind"] => rootField(schema).kind;

describe("kinds", () => {
  it("follow from types", () => {
    expect(kind({ type: "string", format: "date" })).toBe("text");
    expect(kind({ type: "integer" })).toBe("number");
    expect(kind({ type: "number" })).toBe("number");
    expect(kind({ type: "boolean" })).toBe("boolean");
    expect(kind({ type: "array", items: { type: "string" } })).toBe("list");
    expect(kind({ type: "object", additionalProperties: { type: "string" } })).toBe("map");
    expect(kind({ type: "object", properties: { a: true } })).toBe("object");
    expect(kind({ properties: { a: true } })).toBe("object");
    expect(kind({ type: "object", additionalProperties: false })).toBe("object");
    expect(kind({ enum: ["a", 1, null] })).toBe("choice");
    expect(kind({ const: "v1" })).toBe("constant");
  });
  it("are any where a form would have to guess", () => {
    for (const schema of [true, false, {}, { type: ["string", "number"] }, { enum: [{ a: 1 }] }, { type: "string", not: { const: "x" } }, { type: "object", patternProperties: { "^x": {} } }, { $ref: "#/$defs/none" }, { $ref: "https://example.com/s" }])
      expect([schema, kind(schema)]).toEqual([schema, "any"]);
  });
});

describe("null", () => {
  it("is told apart from the type, however it is written", () => {
    for (const schema of [{ type: ["string", "null"] }, { oneOf: [{ type: "string" }, { type: "null" }] }, { anyOf: [{ type: "null" }, { type: "string" }], title: "T" }])
      expect(rootField(schema)).toMatchObject({ kind: "text", nullable: true });
    expect(rootField({ enum: ["a", null] })).toMatchObject({ kind: "choice", nullable: true });
    expect(choices(rootField({ enum: ["a", null] }))).toEqual([{ value: "a", label: "a" }]);
    expect(rootField({ type: "string" }).nullable).toBe(false);
  });
});

describe("references", () => {
  const tree: Json = {
    $ref: "#/$defs/node",
    $defs: { node: { type: "object", title: "Node", properties: { name: { type: "string" }, next: { $ref: "#/$defs/node", title: "Next one" }, all: { type: "array", items: { $ref: "#/$defs/node" } } }, required: ["name"] } },
  };
  it("are followed as far as one looks, endless ones too", () => {
    const root = rootField(tree);
    expect(root).toMatchObject({ kind: "object", title: "Node" });
    const [name, next, all] = properties(tree, root);
    expect(name).toMatchObject({ kind: "text", name: "name", required: true });
    expect(next).toMatchObject({ kind: "object", title: "Next one", required: false });
    expect(all && itemOf(tree, all)).toMatchObject({ kind: "object" });
    expect(next && properties(tree, next).map((p) => p.name)).toEqual(["name", "next", "all"]);
  });
  it("end where they go in a circle", () => {
    expect(kind({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } })).toBe("any");
  });
  it("read escaped names", () => {
    expect(kind({ $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": { type: "boolean" } } })).toBe("boolean");
  });
});

it("joins allOf", () => {
  const schema: Json = { allOf: [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: { type: "integer" } }, required: ["b"] }], title: "Both" };
  const root = rootField(schema);
  expect(root).toMatchObject({ kind: "object", title: "Both" });
  expect(properties(schema, root).map((p) => [p.name, p.kind, p.required])).toEqual([
    ["a", "text", true],
    ["b", "number", true],
  ]);
});

it("knows what fields say of themselves", () => {
  const schema: Json = { type: "object", properties: { key: { type: "string", title: "API key", description: "Of the shop", writeOnly: true }, old: { type: "object", writeOnly: "true" }, plain: { type: "integer", default: 5, writeOnly: false } } };
  expect(properties(schema, rootField(schema))).toMatchObject([
    { title: "API key", description: "Of the shop", secret: true, default: undefined },
    { title: "old", secret: true },
    { title: "plain", secret: false, default: 5 },
  ]);
});

describe("forms", () => {
  const schema: Json = {
    oneOf: [
      { title: "By day", type: "object", properties: { date: { type: "string" } } },
      { type: "object", properties: { mode: { const: "all", title: "Mode" } } },
      { type: "string" },
    ],
  };
  it("are named by title, by what tells them apart, or by what they are", () => {
    const root = rootField(schema);
    expect(root.kind).toBe("forms");
    expect(forms(schema, root).map((f) => f.title)).toEqual(["By day", 'Mode "all"', "Text"]);
  });
  it("of constants are a choice with titles", () => {
    const root = rootField({ oneOf: [{ const: 1, title: "One" }, { const: "two" }] });
    expect(root.kind).toBe("choice");
    expect(choices(root)).toEqual([
      { value: 1, label: "One" },
      { value: "two", label: "two" },
    ]);
  });
});

it("knows what else an object may hold", () => {
  expect(itemOf(true, rootField({ type: "object", properties: { a: {} }, additionalProperties: false }))).toBeUndefined();
  expect(itemOf(true, rootField({ type: "object", properties: { a: {} } }))).toMatchObject({ kind: "any" });
  expect(itemOf(true, rootField({ type: "object", additionalProperties: { type: "number" } }))).toMatchObject({ kind: "number" });
});
