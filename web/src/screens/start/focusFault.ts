const focusable = "input:not([type=hidden]):not(:disabled), textarea:not(:disabled), select:not(:disabled), button:not(:disabled), [tabindex='0']";

/**
 * Gives the focus to the first field that is wrong, in the order that they are seen. Where a place has no field, as in what is edited as
 * JSON or is not there yet, the part that it belongs to gets it. Says whether there was one.
 */
export function focusFault(form: HTMLElement | null, pointers: readonly string[]): boolean {
  if (!form) return false;
  const parts = new Map([...form.querySelectorAll<HTMLElement>("[data-pointer]")].map((e) => [e.dataset["pointer"] ?? "", e]));
  const wanted = new Set<HTMLElement>();
  for (const pointer of pointers) {
    for (let at = pointer; ; at = at.slice(0, at.lastIndexOf("/"))) {
      const part = parts.get(at);
      if (part) wanted.add(part);
      if (part || at === "") break;
    }
  }
  const first = [...parts.values()].find((e) => wanted.has(e) && ![...wanted].some((other) => other !== e && e.contains(other)));
  const target = first?.querySelector<HTMLElement>(focusable);
  target?.focus();
  target?.scrollIntoView?.({ block: "center" });
  return target !== undefined && target !== null;
}
