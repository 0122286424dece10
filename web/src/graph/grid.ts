import type { Layout, Point, Shape } from "./shape";

const columnGap = 64;
const rowGap = 18;

/** A layout that is there at once: each node in the column after its last upstream, in the order given. It stands in until the real one has come. */
export function grid(shape: Shape): Layout {
  const before = new Map<string, string[]>();
  for (const e of shape.edges) before.set(e.to, [...(before.get(e.to) ?? []), e.from]);
  const column = new Map<string, number>();
  const columnOf = (id: string): number => {
    const known = column.get(id);
    if (known !== undefined) return known;
    column.set(id, 0); // should there be a cycle, it ends here
    const c = Math.max(-1, ...(before.get(id) ?? []).map(columnOf)) + 1;
    column.set(id, c);
    return c;
  };
  const columns: Shape["nodes"][] = [];
  for (const n of shape.nodes) (columns[columnOf(n.id)] ??= []).push(n);
  const nodes: Record<string, Point> = {};
  const tall = columns.map((c) => c.reduce((sum, n) => sum + n.height + rowGap, -rowGap));
  const height = Math.max(0, ...tall);
  let x = 0;
  columns.forEach((c, i) => {
    const wide = Math.max(...c.map((n) => n.width));
    let y = (height - (tall[i] ?? 0)) / 2;
    for (const n of c) {
      nodes[n.id] = { x: x + (wide - n.width) / 2, y };
      y += n.height + rowGap;
    }
    x += wide + columnGap;
  });
  const size = new Map(shape.nodes.map((n) => [n.id, n]));
  const edges = shape.edges.map(({ from, to }) => {
    const a = nodes[from];
    const b = nodes[to];
    const sa = size.get(from);
    const sb = size.get(to);
    if (!a || !b || !sa || !sb) return [];
    return [
      { x: a.x + sa.width, y: a.y + sa.height / 2 },
      { x: b.x, y: b.y + sb.height / 2 },
    ];
  });
  return { width: Math.max(0, x - columnGap), height, nodes, edges };
}
