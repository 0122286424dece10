/** How a text matches what was typed: the higher the score the better, and which characters are why. */
export interface Match {
  score: number;
  /** Indices into the text. */
  at: readonly number[];
}

const boundary = (text: string, i: number): boolean => i === 0 || /[\s\-_/.:]/.test(text.charAt(i - 1)) || (/[a-z]/.test(text.charAt(i - 1)) && /[A-Z]/.test(text.charAt(i)));

/** Holds what was typed against a text. Every word must be in it: as it is, best at the beginning of a word, or at least its letters in their order. */
export function match(typed: string, text: string): Match | undefined {
  const words = typed.trim().toLowerCase().split(/\s+/).filter(Boolean);
  let score = 0;
  const at = new Set<number>();
  for (const word of words) {
    const found = whole(word, text) ?? scattered(word, text);
    if (!found) return undefined;
    score += found.score;
    for (const i of found.at) at.add(i);
  }
  // Of equal matches the shorter text is nearer to what was meant.
  return { score: words.length === 0 ? 0 : score / words.length - text.length / 1000, at: [...at].sort((a, b) => a - b) };
}

function whole(word: string, text: string): Match | undefined {
  const lower = text.toLowerCase();
  let best: Match | undefined;
  for (let i = lower.indexOf(word); i >= 0; i = lower.indexOf(word, i + 1)) {
    // One or two letters inside of a word are there by chance.
    const score = i === 0 ? 100 : boundary(text, i) ? 90 : word.length > 2 ? 60 : 30;
    if (!best || score > best.score) best = { score, at: Array.from(word, (_, k) => i + k) };
  }
  return best;
}

function scattered(word: string, text: string): Match | undefined {
  const lower = text.toLowerCase();
  const at: number[] = [];
  let points = 0;
  let from = 0;
  for (const letter of word) {
    // A letter that begins a word is more likely the one that was meant than the next one of its kind.
    let i = lower.indexOf(letter, from);
    if (i < 0) return undefined;
    for (let k = i; k >= 0 && k !== from; k = lower.indexOf(letter, k + 1)) {
      if (!boundary(text, k)) continue;
      if (rest(word, at.length + 1, lower, k + 1)) i = k;
      break;
    }
    points += i === from && at.length > 0 ? 2 : boundary(text, i) ? 2 : 0;
    at.push(i);
    from = i + 1;
  }
  return { score: (50 * points) / (2 * word.length), at };
}

/** Says whether what is left of the word is in what is left of the text. */
function rest(word: string, done: number, lower: string, from: number): boolean {
  let at = from;
  for (const letter of word.slice(done)) {
    at = lower.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** The items that match, the best first; equal ones stay in their order. */
export function ranked<T>(typed: string, items: readonly T[], text: (item: T) => string): { item: T; at: readonly number[]; score: number }[] {
  return items
    .flatMap((item) => {
      const m = match(typed, text(item));
      return m ? [{ item, ...m }] : [];
    })
    .sort((a, b) => b.score - a.score);
}
