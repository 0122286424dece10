import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Refusal } from "../../api/client";
import { keys } from "../../api/keys";
import { print, settle, type Json } from "../../params/json";
import { rootField } from "../../params/schema";
import { faults } from "../../params/values";
import type { Start } from "./copyAs";
import { startRun } from "./queries";

/** What keeps a start from being sent, by JSON pointer into the params, and by the API's field for what is beside them. */
export interface Wrong {
  params: Map<string, string>;
  others: Map<string, string>;
}

/** Parts what the API says of fields: those of the params, and the rest. */
export function partErrors(error: unknown): Wrong {
  const wrong: Wrong = { params: new Map(), others: new Map() };
  if (!(error instanceof Refusal)) return wrong;
  for (const [field, detail] of error.fields) {
    if (field === "/params" || field.startsWith("/params/")) wrong.params.set(field.slice("/params".length), detail);
    else wrong.others.set(field, detail);
  }
  return wrong;
}

/** How the last look at the form came out. */
export type Verdict = { is: "wrong"; count: number } | { is: "checking" } | { is: "good"; existing: boolean } | { is: "refused"; error: Error };

/** Holds the form against the API while it is filled in, and starts the run. `ready` is false while something in it is no value yet. */
export function useStart(root: Json, start: Start, optionFaults: ReadonlyMap<string, string>, may: boolean, started: (run: string) => void) {
  const cache = useQueryClient();
  const field = rootField(root);
  const own = new Map(faults(root, field, start.params).map((f) => [f.pointer, f.text]));
  const ready = own.size === 0 && optionFaults.size === 0;
  const asked = useSettled(JSON.stringify([ready, start.flow, print(settle(start.params)), { ...start, params: null }]));
  const current = JSON.stringify([ready, start.flow, print(settle(start.params)), { ...start, params: null }]) === asked;

  const check = useQuery({
    queryKey: keys.flow(start.flow, "check", asked),
    queryFn: ({ signal }) => startRun(start, true, signal),
    enabled: may && ready && current,
    retry: false,
    staleTime: 10_000,
    gcTime: 30_000,
    refetchOnWindowFocus: false,
  });
  const begin = useMutation({
    mutationFn: () => startRun(start, false),
    onSuccess: (made) => {
      void cache.invalidateQueries({ queryKey: keys.runs });
      void cache.invalidateQueries({ queryKey: keys.flow(start.flow, "recent-params") });
      if (made.run) started(made.run);
    },
  });
  const answered = current ? check : undefined;
  const error = answered?.error ?? (begin.isError && current ? begin.error : null);
  const said = partErrors(error);
  const verdict: Verdict = !ready
    ? { is: "wrong", count: own.size + optionFaults.size }
    : error
      ? said.params.size + said.others.size > 0
        ? { is: "wrong", count: said.params.size + said.others.size }
        : { is: "refused", error }
      : answered?.data
        ? { is: "good", existing: answered.data.existing }
        : { is: "checking" };
  return {
    wrong: { params: new Map([...said.params, ...own]), others: new Map([...said.others, ...optionFaults]) } satisfies Wrong,
    verdict,
    ready,
    start: () => begin.mutate(),
    starting: begin.isPending || begin.isSuccess,
    failed: begin.error,
  };
}

/** A value once it has stood still for a while, so that not every letter is a request. */
function useSettled(value: string, ms = 450): string {
  const [settled, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
