const key = "ax.token";

/**
 * The token that somebody pasted, for servers without a log-in page. It is kept for this tab only: sessionStorage ends with the tab
 * and other tabs do not see it.
 */
export const token = {
  get: (): string | null => sessionStorage.getItem(key),
  set: (value: string): void => sessionStorage.setItem(key, value),
  clear: (): void => sessionStorage.removeItem(key),
};
