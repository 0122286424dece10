/** What a JSON value is. */
export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

/** The kind of a JSON value; what is no JSON counts as null. */
export function kindOf(value: unknown): JsonKind {
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "object":
      return value === null ? "null" : "object";
    case "string":
    case "number":
    case "boolean":
      return typeof value as JsonKind; // the cases above are these three
    default:
      return "null";
  }
}

/** The entries of an object or a list, none of anything else. */
export function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

/** Says whether an object or list of so many entries is unfolded at first: not what is deep, and not what is long. */
export const openAtFirst = (entries: number, depth: number): boolean => depth < 3 && entries <= 30;

/** The server writes this in place of what must not be seen. */
export const redacted = (value: unknown): boolean => value === "•••";
