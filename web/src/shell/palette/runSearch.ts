/** What of the palette's text is a search for runs: the beginning of an id (at least 4 characters), or terms such as `flow:x`; else undefined. */
export function runSearch(typed: string): string | undefined {
  const text = typed.trim();
  if (/^[0-9a-f]{4,8}(-[0-9a-f]{0,4}){0,3}(-[0-9a-f]{0,12})?$/i.test(text)) return text.toLowerCase();
  // A term that is still without a value would be refused.
  return /(^|\s)[a-z_.]+:\S/i.test(text) && !/:(\s|$)/.test(text) ? text : undefined;
}
