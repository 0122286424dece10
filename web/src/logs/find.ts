import { attributesText, type Line } from "./lines";

/** A piece of text, and whether it is what was looked for. */
export interface Piece {
  text: string;
  hit: boolean;
  /** Where it begins. */
  at: number;
}

/** Cuts a text at what was looked for, whatever its case. */
export function pieces(text: string, find: string): Piece[] {
  if (find === "") return [{ text, hit: false, at: 0 }];
  const out: Piece[] = [];
  const low = text.toLowerCase();
  // A letter whose lower case is longer would move what comes after it: then nothing is marked.
  if (low.length !== text.length) return [{ text, hit: false, at: 0 }];
  const want = find.toLowerCase();
  let from = 0;
  for (let at = low.indexOf(want); at >= 0; at = low.indexOf(want, from)) {
    if (at > from) out.push({ text: text.slice(from, at), hit: false, at: from });
    from = at + want.length;
    out.push({ text: text.slice(at, from), hit: true, at });
  }
  if (from < text.length) out.push({ text: text.slice(from), hit: false, at: from });
  return out;
}

/** The indices of the lines whose message or attributes hold a text, whatever its case. */
export function hits(list: readonly Line[], find: string): number[] {
  if (find === "") return [];
  const want = find.toLowerCase();
  return list.flatMap((l, i) => (l.message.toLowerCase().includes(want) || attributesText(l).toLowerCase().includes(want) ? [i] : []));
}

/** The hit after (`step` 1) or before (-1) a line; beyond the last comes the first. Undefined without hits. */
export function nextHit(found: readonly number[], from: number, step: 1 | -1): number | undefined {
  if (step === 1) return found.find((i) => i > from) ?? found[0];
  return found.findLast((i) => i < from) ?? found.at(-1);
}
