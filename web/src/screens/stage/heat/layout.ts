/** A grid of square cells in device pixels, filled in reading order. */
export interface Layout {
  n: number;
  columns: number;
  rows: number;
  /** From one cell's left edge to the next one's. */
  pitch: number;
  /** A cell's side; what is left of the pitch is the gap. */
  cell: number;
}

/** What the grid has to fit. All in device pixels. */
export interface Room {
  width: number;
  /** The height to fit if cells stay at least `least` large; else the grid is higher and scrolls. */
  height: number;
  /** The least and the greatest pitch. */
  least: number;
  most: number;
}

/** Chooses the largest cells that fit; rows are a round number of cells where that costs little, so that indices can be read off. */
export function fit(n: number, { width, height, least, most }: Room): Layout {
  const lowest = Math.max(1, Math.min(Math.floor(least), Math.floor(width)));
  let pitch = Math.max(lowest, Math.floor(most));
  while (pitch > lowest && Math.ceil(n / columnsOf(width, pitch)) * pitch > height) pitch--;
  const columns = columnsOf(width, pitch);
  return { n, columns, rows: Math.ceil(n / columns), pitch, cell: pitch - gapOf(pitch) };
}

function columnsOf(width: number, pitch: number): number {
  const most = Math.max(1, Math.floor(width / pitch));
  for (const step of [100, 50, 10, 5]) {
    const round = most - (most % step);
    // At most a twentieth of the width is given up.
    if (round > 0 && most - round <= most / 20) return round;
  }
  return most;
}

// Gaps between the smallest cells would take more than half of the colour, and shimmer.
const gapOf = (pitch: number): number => (pitch < 5 ? 0 : pitch < 14 ? 1 : 2);

/** The left edge of a place. */
export const xOf = (l: Layout, place: number): number => (place % l.columns) * l.pitch;

/** The upper edge of a place, from the top of the whole grid. */
export const yOf = (l: Layout, place: number): number => Math.floor(place / l.columns) * l.pitch;

/** The place at a point of the whole grid, gaps counting to the cell before them; -1 where there is none. */
export function placeAt(l: Layout, x: number, y: number): number {
  if (x < 0 || y < 0) return -1;
  const column = Math.floor(x / l.pitch);
  if (column >= l.columns) return -1;
  const place = Math.floor(y / l.pitch) * l.columns + column;
  return place < l.n ? place : -1;
}

/** The place nearest to a point, for a brush that leaves the grid; -1 if there is no cell. */
export function nearest(l: Layout, x: number, y: number): number {
  if (l.n === 0) return -1;
  const column = Math.min(l.columns - 1, Math.max(0, Math.floor(x / l.pitch)));
  const row = Math.max(0, Math.floor(y / l.pitch));
  return Math.min(l.n - 1, row * l.columns + column);
}

/** The places that a part of the grid shows, from `top` on and `height` high: the first, and the one after the last. */
export function visible(l: Layout, top: number, height: number): [from: number, to: number] {
  const from = Math.max(0, Math.floor(top / l.pitch)) * l.columns;
  const to = Math.ceil((top + height) / l.pitch) * l.columns;
  return [Math.min(from, l.n), Math.min(Math.max(0, to), l.n)];
}

/** Where a key moves the cursor; the place itself for other keys. `page` is how many rows are shown. */
export function moved(l: Layout, place: number, key: string, page: number): number {
  const step: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -l.columns, ArrowDown: l.columns, PageUp: -l.columns * page, PageDown: l.columns * page };
  if (key === "Home") return 0;
  if (key === "End") return l.n - 1;
  const by = step[key];
  if (by === undefined) return place;
  const to = place + by;
  if (to >= 0 && to < l.n) return to;
  // A page more than there is goes to the edge; a step more stays.
  return key === "PageUp" ? place % l.columns : key === "PageDown" ? l.n - 1 : place;
}
