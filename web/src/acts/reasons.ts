const key = "ax.reasons";
const most = 6;

/** The reasons that were given in this tab, the newest first: who acts twice mostly acts for the same reason. */
export const reasons = {
  get(): string[] {
    try {
      const list: unknown = JSON.parse(sessionStorage.getItem(key) ?? "[]");
      return Array.isArray(list) ? list.filter((r) => typeof r === "string") : [];
    } catch {
      return [];
    }
  },
  add(reason: string): void {
    if (reason === "") return;
    try {
      sessionStorage.setItem(key, JSON.stringify([reason, ...reasons.get().filter((r) => r !== reason)].slice(0, most)));
    } catch {
      // Storage is switched off: there is nothing to suggest.
    }
  },
};
