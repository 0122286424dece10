import { expect, test } from "vitest";
import { fit, moved, nearest, placeAt, visible, xOf, yOf, type Layout } from "./layout";

const room = { width: 1200, height: 750, least: 3, most: 22 };

test("100,000 cells fit in 1200 × 750 at three pixels", () => {
  const l = fit(100_000, room);
  expect(l).toEqual({ n: 100_000, columns: 400, rows: 250, pitch: 3, cell: 3 });
});

test("few cells are as large as they may be", () => {
  const l = fit(24, room);
  expect(l.pitch).toBe(22);
  expect(l.rows).toBe(1);
  expect(l.columns).toBe(54);
});

test("a million cells are higher than the room", () => {
  const l = fit(1_000_000, room);
  expect(l.pitch).toBe(3);
  expect(l.rows * l.pitch).toBeGreaterThan(room.height);
});

test("the next larger cells would not fit", () => {
  for (const n of [1, 2, 7, 96, 500, 2000, 12_345, 54_321, 99_999]) {
    const l = fit(n, room);
    expect(l.columns * l.pitch).toBeLessThanOrEqual(room.width);
    expect(l.rows * l.columns).toBeGreaterThanOrEqual(n);
    expect((l.rows - 1) * l.columns).toBeLessThan(n);
    expect(l.rows * l.pitch).toBeLessThanOrEqual(room.height);
    // Even without rounding, or rounding away a twentieth, one pixel more is too much.
    const larger = l.pitch + 1;
    expect(larger > room.most || Math.ceil(n / (Math.floor(room.width / larger) * (19 / 20))) * larger > room.height).toBe(true);
  }
});

test("nothing, and no width", () => {
  expect(fit(0, room).rows).toBe(0);
  expect(fit(5, { ...room, width: 0 })).toMatchObject({ columns: 1, rows: 5 });
});

const small: Layout = { n: 23, columns: 10, rows: 3, pitch: 8, cell: 7 };

test("a place's corner is at that place, and so is its gap", () => {
  for (let place = 0; place < small.n; place++) {
    const [x, y] = [xOf(small, place), yOf(small, place)];
    expect(placeAt(small, x, y)).toBe(place);
    expect(placeAt(small, x + 7, y + 7)).toBe(place);
  }
  expect([xOf(small, 12), yOf(small, 12)]).toEqual([16, 8]);
});

test("there is nothing beside the grid and after its last cell", () => {
  expect(placeAt(small, 80, 0)).toBe(-1);
  expect(placeAt(small, -1, 0)).toBe(-1);
  expect(placeAt(small, 0, -1)).toBe(-1);
  expect(placeAt(small, 24, 16)).toBe(-1);
  expect(placeAt(small, 0, 24)).toBe(-1);
});

test("a brush ends at the nearest cell", () => {
  expect(nearest(small, -50, -50)).toBe(0);
  expect(nearest(small, 500, 3)).toBe(9);
  expect(nearest(small, 500, 500)).toBe(22);
  expect(nearest({ ...small, n: 0 }, 1, 1)).toBe(-1);
});

test("only the rows that show are drawn", () => {
  expect(visible(small, 0, 8)).toEqual([0, 10]);
  expect(visible(small, 7, 2)).toEqual([0, 20]);
  expect(visible(small, 16, 100)).toEqual([20, 23]);
  expect(visible(small, 100, 10)).toEqual([23, 23]);
});

test("keys move the cursor and stop at the edges", () => {
  expect(moved(small, 5, "ArrowRight", 2)).toBe(6);
  expect(moved(small, 9, "ArrowRight", 2)).toBe(10);
  expect(moved(small, 0, "ArrowLeft", 2)).toBe(0);
  expect(moved(small, 5, "ArrowDown", 2)).toBe(15);
  expect(moved(small, 15, "ArrowDown", 2)).toBe(15);
  expect(moved(small, 12, "ArrowDown", 2)).toBe(22);
  expect(moved(small, 5, "ArrowUp", 2)).toBe(5);
  expect(moved(small, 5, "PageDown", 2)).toBe(22);
  expect(moved(small, 15, "PageUp", 2)).toBe(5);
  expect(moved(small, 15, "Home", 2)).toBe(0);
  expect(moved(small, 15, "End", 2)).toBe(22);
  expect(moved(small, 15, "x", 2)).toBe(15);
});
