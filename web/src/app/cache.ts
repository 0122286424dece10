import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { Refusal } from "../api/client";
import { keys } from "../api/keys";

/** Refusals that another try would not change are not tried again; the rest is, twice. */
const retry = (failures: number, error: Error): boolean => failures < 2 && !(error instanceof Refusal && error.problem.status >= 400 && error.problem.status < 500);

/** The cache of answers. Who was known and is told that the credential counts no more has it looked at again, which brings the log-in. */
export function newCache(): QueryClient {
  const look = (error: Error) => {
    const known = cache.getQueryState(keys.me)?.status === "success";
    if (known && error instanceof Refusal && error.problem.code === "unauthenticated") void cache.invalidateQueries({ queryKey: keys.me });
  };
  const cache: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error, query) => query.queryKey[0] !== keys.me[0] && look(error) }),
    mutationCache: new MutationCache({ onError: look }),
    defaultOptions: { queries: { retry, staleTime: 2_000, refetchOnWindowFocus: true }, mutations: { retry: false } },
  });
  return cache;
}
