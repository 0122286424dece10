/** One difference between two JSON values. */
export interface Difference {
  /** Where, as a JSON pointer (RFC 6901): `/filter/since`; empty for the whole value. */
  path: string;
  kind: "added" | "removed" | "changed";
  /** The value before; left out where it was added. */
  before?: unknown;
  /** The value after; left out where it was removed. */
  after?: unknown;
}

/**
 * What differs between two JSON values, in the order of `before`, with what was added at the end of its object. Objects are compared
 * field by field, whatever their order; arrays item by item, where an item that was put in or taken out moves no others: they are
 * aligned by their longest common subsequence (up to 300 items a side, else by position). A path into an array is an index of `after`, of
 * what was removed one of `before`.
 */
export function diff(before: unknown, after: unknown, path = ""): Difference[] {
  if (isObject(before) && isObject(after)) {
    const out: Difference[] = [];
    for (const [key, value] of Object.entries(before)) {
      const at = `${path}/${escape(key)}`;
      if (Object.hasOwn(after, key)) out.push(...diff(value, after[key], at));
      else out.push({ path: at, kind: "removed", before: value });
    }
    for (const [key, value] of Object.entries(after)) if (!Object.hasOwn(before, key)) out.push({ path: `${path}/${escape(key)}`, kind: "added", after: value });
    return out;
  }
  if (Array.isArray(before) && Array.isArray(after)) return diffArrays(before, after, path);
  return same(before, after) ? [] : [{ path, kind: "changed", before, after }];
}

/** Says whether two JSON values are equal; the order of an object's fields does not matter. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
  }
  // 0 and -0 are one number in JSON.
  return a === b;
}

const mostAligned = 300;

function diffArrays(before: readonly unknown[], after: readonly unknown[], path: string): Difference[] {
  const pairs = before.length <= mostAligned && after.length <= mostAligned ? common(before, after) : [];
  const out: Difference[] = [];
  let i = 0;
  let j = 0;
  // Between two items that are the same, what is left on both sides is compared by position.
  for (const [nextI, nextJ] of [...pairs, [before.length, after.length] as const]) {
    while (i < nextI && j < nextJ) out.push(...diff(before[i++], after[j], `${path}/${j++}`));
    while (i < nextI) out.push({ path: `${path}/${i}`, kind: "removed", before: before[i++] });
    while (j < nextJ) out.push({ path: `${path}/${j}`, kind: "added", after: after[j++] });
    i++;
    j++;
  }
  return out;
}

/** The longest common subsequence, as pairs of indices. */
function common(a: readonly unknown[], b: readonly unknown[]): (readonly [number, number])[] {
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  const equal = a.map((x) => b.map((y) => same(x, y)));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] = equal[i]?.[j] ? at(length, (i + 1) * width + j + 1) + 1 : Math.max(at(length, (i + 1) * width + j), at(length, i * width + j + 1));
    }
  }
  const out: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (equal[i]?.[j]) out.push([i++, j++]);
    else if (at(length, (i + 1) * width + j) >= at(length, i * width + j + 1)) i++;
    else j++;
  }
  return out;
}

const at = (list: Uint16Array, i: number): number => list[i] ?? 0;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const escape = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
