import type { Point } from "./shape";

type Spec = { name: string; upstreams: readonly string[] };

/** A graph to walk in: what comes before and after each stage. */
export interface Ways {
  up: ReadonlyMap<string, readonly string[]>;
  down: ReadonlyMap<string, readonly string[]>;
}

/** What comes directly before and after each stage. */
export function ways(stages: readonly Spec[]): Ways {
  const down = new Map<string, string[]>(stages.map((s) => [s.name, []]));
  for (const s of stages) for (const u of s.upstreams) down.get(u)?.push(s.name);
  return { up: new Map(stages.map((s) => [s.name, s.upstreams])), down };
}

/** A stage with everything that it waits for, directly or not, and everything that waits for it. Empty for a stage that is not there. */
export function related(w: Ways, stage: string): Set<string> {
  const out = new Set<string>();
  if (!w.up.has(stage)) return out;
  for (const next of [w.up, w.down]) {
    const todo = [stage];
    while (todo.length > 0) {
      const name = todo.pop();
      if (name === undefined) break;
      for (const n of next.get(name) ?? []) {
        if (out.has(n)) continue;
        out.add(n);
        todo.push(n);
      }
    }
  }
  out.add(stage);
  return out;
}

export type Direction = "left" | "right" | "up" | "down";

/**
 * The stage that an arrow key leads to: right and left go along edges, to the nearest; up and down go to the next stage of the same
 * column. Undefined where there is none.
 */
export function walk(w: Ways, at: Readonly<Record<string, Point>>, from: string, direction: Direction): string | undefined {
  const here = at[from];
  if (!here) return undefined;
  const nearest = (names: readonly string[]): string | undefined =>
    names.reduce<string | undefined>((best, name) => {
      const p = at[name];
      const b = best === undefined ? undefined : at[best];
      return p && (!b || distance(p, here) < distance(b, here)) ? name : best;
    }, undefined);
  if (direction === "right") return nearest(w.down.get(from) ?? []);
  if (direction === "left") return nearest(w.up.get(from) ?? []);
  const column = [...w.up.keys()].filter((name) => {
    const p = at[name];
    return p && p.x === here.x && (direction === "down" ? p.y > here.y : p.y < here.y);
  });
  return nearest(column);
}

const distance = (a: Point, b: Point): number => Math.abs(a.y - b.y) + Math.abs(a.x - b.x) * 2;
