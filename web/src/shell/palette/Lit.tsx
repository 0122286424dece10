/** A text with the characters that matched in bold. */
export function Lit({ text, at }: { text: string; at: readonly number[] }) {
  const parts: { text: string; lit: boolean }[] = [];
  const lit = new Set(at);
  // The indices are those of UTF-16 units, as match counts them.
  for (let i = 0; i < text.length; i++) {
    const last = parts.at(-1);
    if (last && last.lit === lit.has(i)) last.text += text.charAt(i);
    else parts.push({ text: text.charAt(i), lit: lit.has(i) });
  }
  return parts.map((p, i) => (p.lit ? <b key={i}>{p.text}</b> : <span key={i}>{p.text}</span>));
}
