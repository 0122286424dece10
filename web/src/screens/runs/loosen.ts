import { terms, without } from "../../runs/query";

/** Searches that find more than one that finds nothing: without each of its terms, and without all. */
export function loosened(q: string): { q: string; says: string }[] {
  const all = terms(q);
  const ways = all.slice(0, 6).map((t, i) => ({ q: without(q, i), says: `Without ${q.slice(t.from, t.to)}` }));
  return all.length > 1 ? [...ways, { q: "", says: "All runs" }] : ways.map((w) => ({ ...w, says: "All runs" }));
}
