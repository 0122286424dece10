/** How one logs in here: with the identity provider, or only with a token. */
export type Way = "oidc" | "token";

/**
 * Finds the way to log in. Who has no credential is told nothing by the API, so the log-in's own address is asked: where there is a
 * provider it sends elsewhere (and is not followed), where there is none it does not exist.
 */
export async function way(signal?: AbortSignal): Promise<Way> {
  const response = await fetch("/auth/login", { redirect: "manual", cache: "no-store", ...(signal ? { signal } : {}) });
  // A provider that does not answer (503) is a provider all the same.
  return response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400) || response.status === 503 ? "oidc" : "token";
}

/** The address that logs in and comes back to where the reader is. */
export const loginAddress = (here: string): string => `/auth/login?return=${encodeURIComponent(here)}`;
