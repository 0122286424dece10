import type { Point } from "./shape";

const round = (n: number): number => Math.round(n * 10) / 10;

/** The way of an edge as SVG path data: level where it leaves, passes a column and arrives, an S in between. */
export function curve(points: readonly Point[]): string {
  const first = points[0];
  if (!first) return "";
  let d = `M${round(first.x)} ${round(first.y)}`;
  for (let i = 1; i < points.length; i++) {
    const a = points[i - 1];
    const b = points[i];
    if (!a || !b) break;
    const middle = round((a.x + b.x) / 2);
    d += a.y === b.y ? `H${round(b.x)}` : `C${middle} ${round(a.y)} ${middle} ${round(b.y)} ${round(b.x)} ${round(b.y)}`;
  }
  return d;
}

/** The head of an arrow that ends at the last of the points, as SVG path data. */
export function head(points: readonly Point[]): string {
  const end = points.at(-1);
  return end ? `M${round(end.x)} ${round(end.y)}l-8 -4v8z` : "";
}

const steps = 8;

/** Points along the curve, close enough to each other to measure distances with. */
export function sample(points: readonly Point[]): Point[] {
  const out: Point[] = points[0] ? [points[0]] : [];
  for (let i = 1; i < points.length; i++) {
    const a = points[i - 1];
    const b = points[i];
    if (!a || !b) break;
    for (let k = 1; k <= steps; k++) {
      const t = k / steps;
      // A cubic whose inner points are in the middle between a and b, one at a's height and one at b's.
      out.push({ x: a.x + (b.x - a.x) * (1.5 * t * (1 - t) + t * t * t), y: a.y + (b.y - a.y) * (3 * t * t * (1 - t) + t * t * t) });
    }
  }
  return out;
}

/** The place of the line that is nearest to a point, not further than `within`; undefined if none is. */
export function nearest(lines: readonly (readonly Point[])[], at: Point, within: number): number | undefined {
  let best: number | undefined;
  let least = within;
  lines.forEach((line, place) => {
    for (let i = 1; i < line.length; i++) {
      const a = line[i - 1];
      const b = line[i];
      if (!a || !b || at.x < Math.min(a.x, b.x) - least || at.x > Math.max(a.x, b.x) + least) continue;
      const d = toSegment(at, a, b);
      if (d <= least) {
        least = d;
        best = place;
      }
    }
  });
  return best;
}

function toSegment(p: Point, a: Point, b: Point): number {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.max(0, Math.min(1, ((p.x - a.x) * dx + (p.y - a.y) * dy) / length));
  return Math.hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}
