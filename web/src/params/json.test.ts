import { describe, expect, it } from "vitest";
import { comparable, exact, moved, parse, pointer, print, Raw, settle, walk, withField, withName, type Json } from "./json";

describe("parse and print", () => {
  it("keep numbers that JavaScript cannot hold", () => {
    const text = '{"id":9223372036854775807,"small":0.1,"sum":0.30000000000000000001,"list":[1e400,-0.5e-3],"same":"9223372036854775807"}';
    expect(print(parse(text))).toBe('{"id":9223372036854775807,"small":0.1,"sum":0.30000000000000000001,"list":[1e400,-0.0005],"same":"9223372036854775807"}');
    expect(parse("9007199254740993")).toEqual(new Raw("9007199254740993"));
  });
  it("leave plain JSON plain", () => {
    expect(parse('{"a":[1,2.50,1e3,"#1","\\"3"],"b":null}')).toEqual({ a: [1, 2.5, 1000, "#1", '"3'], b: null });
    expect(() => parse("{")).toThrow(SyntaxError);
    expect(() => parse("")).toThrow(SyntaxError);
  });
  it("tell numbers in texts from numbers", () => {
    expect(parse('{"#9223372036854775807":"#9223372036854775807","n":9223372036854775807}')).toEqual({ "#9223372036854775807": "#9223372036854775807", n: new Raw("9223372036854775807") });
  });
  it("indent as JSON.stringify does", () => {
    const value = { a: [1, { b: null }], c: {}, d: [], 'e"': "é\n" };
    expect(print(value, 2)).toBe(JSON.stringify(value, null, 2));
    expect(print(value)).toBe(JSON.stringify(value));
  });
  it("keep a field named __proto__", () => {
    expect(print(parse('{"__proto__":1,"n":9223372036854775807}'))).toBe('{"__proto__":1,"n":9223372036854775807}');
    expect(print(withField(parse('{"a":1}') as { a: number }, "__proto__", 2))).toBe('{"a":1,"__proto__":2}');
  });
});

it("knows which numbers are exact", () => {
  for (const t of ["0", "-0", "0.1", "1e3", "1.50", "9007199254740991", "123456789012345680000", "1e21", "5e-324"]) expect([t, exact(t)]).toEqual([t, true]);
  for (const t of ["9007199254740993", "0.30000000000000000001", "1e400", "-9223372036854775808"]) expect([t, exact(t)]).toEqual([t, false]);
});

it("settles text that is JSON and leaves the rest", () => {
  const half = new Raw("{");
  expect(settle({ a: new Raw("[1, 2]"), b: [half], n: new Raw("12") })).toEqual({ a: [1, 2], b: [half], n: 12 });
  expect(print({ a: half })).toBe('{"a":{}');
});

it("writes pointers and visits every place", () => {
  expect(pointer(["a/b", 0, "m~n"])).toBe("/a~1b/0/m~0n");
  const seen: string[] = [];
  walk({ a: [true], b: "x" }, (_, path) => seen.push(pointer(path)));
  expect(seen).toEqual(["", "/a", "/a/0", "/b"]);
});

it("changes objects and lists in place", () => {
  expect(Object.entries(withField({ a: 1, b: 2 }, "a", 3))).toEqual([["a", 3], ["b", 2]]);
  expect(withField({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
  expect(Object.keys(withName({ a: 1, b: 2 }, "a", "z"))).toEqual(["z", "b"]);
  expect(moved([1, 2, 3], 0, 2)).toEqual([2, 3, 1]);
  expect(moved([1, 2, 3], 2, 1)).toEqual([1, 3, 2]);
  expect(moved([1], 0, 1)).toEqual([1]);
});

it("compares big numbers by their value", () => {
  const big: Json = { id: new Raw("9223372036854775807") };
  expect(comparable(big)).toEqual({ id: 9223372036854775807n });
});
