/**
 * Search params of the page's addresses are plain strings: `?q=flow:x&view=gantt`. The router's own way writes JSON, which nobody can
 * read or type. What is not a string is checked by the route's `validateSearch`.
 */
export const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));

/** The reverse of `parseSearch`; what is undefined, null, false or empty is left out, so that a default has no place in the address. */
export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(search)) {
    if (value === undefined || value === null || value === "" || value === false) continue;
    params.set(key, String(value));
  }
  // Colons and commas are allowed in a query and make searches readable.
  const text = params.toString().replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/");
  return text ? `?${text}` : "";
}

/** A `validateSearch` for params that are optional strings; one that is set to undefined goes. */
export const strings =
  <const K extends string>(...names: readonly K[]) =>
  (search: Record<string, unknown>): { [N in K]?: string | undefined } => {
    const out: { [N in K]?: string | undefined } = {};
    for (const name of names) {
      const value = search[name];
      if (typeof value === "string" && value !== "") out[name] = value;
      else if (typeof value === "number") out[name] = String(value);
    }
    return out;
  };
