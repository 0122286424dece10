import { expect, test } from "vitest";
import { format, pan, parse, within, zoom } from "./zoom";

const bounds = { from: 1000, to: 11_000 };

test("zooming keeps the time under the pointer where it is", () => {
  expect(zoom(bounds, 3500, 0.5, bounds)).toEqual({ from: 2250, to: 7250 });
  expect(zoom({ from: 2250, to: 7250 }, 3500, 2, bounds)).toEqual(bounds);
});

test("nothing beyond the bounds comes in sight", () => {
  expect(zoom({ from: 1000, to: 2000 }, 2000, 4, bounds)).toEqual({ from: 1000, to: 5000 });
  expect(zoom(bounds, 5000, 10, bounds)).toEqual(bounds);
  expect(pan({ from: 9000, to: 10_000 }, 5000, bounds)).toEqual({ from: 10_000, to: 11_000 });
  expect(pan({ from: 2000, to: 3000 }, -5000, bounds)).toEqual({ from: 1000, to: 2000 });
  expect(within({ from: 0, to: 100_000 }, bounds)).toEqual(bounds);
});

test("there is a least span, also where the run took no time", () => {
  expect(zoom(bounds, 1000, 0, bounds)).toEqual({ from: 1000, to: 1020 });
  expect(within({ from: 5, to: 5 }, { from: 5, to: 5 })).toEqual({ from: 5, to: 25 });
});

test("an address holds a span, and takes anything", () => {
  const span = { from: 3500, to: 9250 };
  expect(format(span, 1000)).toBe("2.5..8.25");
  expect(parse("2.5..8.25", 1000)).toEqual(span);
  expect(parse("-1..2", 1000)).toEqual({ from: 0, to: 3000 });
  for (const text of [undefined, "", "1", "1..", "..1", "2..1", "a..b", "1..2..3", "1..Infinity"]) expect(parse(text, 0)).toBeUndefined();
});
