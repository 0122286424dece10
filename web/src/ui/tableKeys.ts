/** Where a key takes the focus in a table of `count` rows of which `page` are seen at once; undefined if the key does not move it. */
export function step(key: string, from: number, count: number, page: number): number | undefined {
  if (count === 0) return undefined;
  const jump = Math.max(1, page - 1);
  const to = { ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + jump, PageUp: from - jump, Home: 0, End: count - 1 }[key];
  return to === undefined ? undefined : Math.min(count - 1, Math.max(0, to));
}

/** The index of the row with a key, or -1. It looks around `near` first: rows seldom move far. */
export function indexOf<R>(rows: readonly R[], rowKey: (row: R) => string, key: string | undefined, near: number): number {
  if (key === undefined) return -1;
  const start = Math.min(Math.max(0, near), rows.length - 1);
  for (let d = 0; d < rows.length; d++) {
    for (const i of d === 0 ? [start] : [start - d, start + d]) {
      const row = rows[i];
      if (row !== undefined && rowKey(row) === key) return i;
    }
  }
  return -1;
}

/** The selection after one row was chosen: toggled, or with `anchor` everything between the two made like the anchor. */
export function select<R>(rows: readonly R[], rowKey: (row: R) => string, selected: ReadonlySet<string>, index: number, anchor: number): ReadonlySet<string> {
  const next = new Set(selected);
  const row = rows[index];
  if (row === undefined) return next;
  const anchorRow = rows[anchor];
  if (anchorRow === undefined) {
    if (!next.delete(rowKey(row))) next.add(rowKey(row));
    return next;
  }
  const on = selected.has(rowKey(anchorRow));
  for (const between of rows.slice(Math.min(index, anchor), Math.max(index, anchor) + 1)) {
    if (on) next.add(rowKey(between));
    else next.delete(rowKey(between));
  }
  return next;
}
