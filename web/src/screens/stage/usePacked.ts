import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useMemo, useRef } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { useLiveStatus } from "../../api/live/useLive";
import { unpack, type Packed } from "./heat/packed";

/** The arrays that cost the server a row a shard. */
export type PackedField = "attempts" | "durations" | "started" | "workers";

/** States are read again at most so often while counters change, in ms; the other arrays cost more. */
const statesEvery = 1000;
const fieldsEvery = 5000;

/** The packed arrays of a stage's shards: their states, with those of `fields`. */
export const packedQuery = (run: string, stage: string, fields: readonly PackedField[] = []) => ({
  queryKey: keys.stage(run, stage, "packed", fields.join()),
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Packed> =>
    unpack(await answer(api.GET("/api/v1/runs/{run}/stages/{stage}/shards/packed", { params: { path: { run, stage }, query: fields.length > 0 ? { fields: [...fields] } : {} }, querySerializer: { array: { style: "form", explode: false } }, signal }))),
  // Comparing 100,000 entries to keep the old object would cost more than it saves.
  structuralSharing: false,
  staleTime: Infinity,
  refetchOnWindowFocus: false,
});

/** What is known of all shards of a stage. */
export interface PackedReads {
  /** The newest states, with the arrays that there are. */
  packed: Packed | undefined;
  /** The arrays with the states of the same moment. It changes less often, for what costs more to work out. */
  timed: Packed | undefined;
  error: Error | null;
  retry: () => void;
}

/**
 * All shards of a stage: their states first, then the arrays of `fields` beside them. While the stage's counters change, both are read again, no more
 * often than they are worth, and not while nobody looks at the page.
 */
export function usePacked(run: string, status: Schemas["StageStatus"], fields: readonly PackedField[]): PackedReads {
  const known = status.total > 0;
  const states = useQuery({ ...packedQuery(run, status.name), enabled: known });
  // The cheap array is shown before the dear ones are asked for.
  const more = useQuery({ ...packedQuery(run, status.name, fields), enabled: known && fields.length > 0 && states.isSuccess, placeholderData: (before: Packed | undefined) => before });
  const { generation, total, state, succeeded, ready, in_flight, dead, parked } = status;
  const stamp = [generation, total, state, succeeded, ready, in_flight, dead, parked].join();
  useReadAgain(states, stamp, statesEvery);
  useReadAgain(more, stamp, fieldsEvery);
  const packed = useMemo(() => together(states.data, more.data), [states.data, more.data]);
  return { packed, timed: more.data, error: states.error ?? more.error, retry: () => void (states.isError ? states.refetch() : more.refetch()) };
}

/** When the newest attempt of each shard started, for a stage that has ended: it is only asked for while somebody needs it. */
export function useStarted(run: string, status: Schemas["StageStatus"], needed: boolean): Uint32Array | undefined {
  return useQuery({ ...packedQuery(run, status.name, ["started"]), enabled: needed && status.finished_at !== undefined }).data?.started;
}

/** The newer one's states with the arrays that there are. Those of another generation say nothing of this one. */
export function together(states: Packed | undefined, more: Packed | undefined): Packed | undefined {
  if (!states || !more) return states ?? more;
  if (states.generation !== more.generation || states.total !== more.total) return states.at >= more.at ? states : more;
  return more.at > states.at ? more : { ...more, at: states.at, states: states.states, names: states.names };
}

/** Reads a query again when `stamp` has changed, at most every `every` ms, and only while the page is seen and not paused. */
function useReadAgain(query: UseQueryResult<Packed>, stamp: string, every: number): void {
  const { state } = useLiveStatus();
  const of = useRef(stamp);
  const read = useEffectEvent(() => {
    of.current = stamp;
    void query.refetch({ cancelRefetch: false });
  });
  const age = useEffectEvent(() => Date.now() - query.dataUpdatedAt);
  const { isFetching, isEnabled } = query;
  useEffect(() => {
    if (!isEnabled || isFetching || state === "paused" || stamp === of.current) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const arm = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") timer = setTimeout(read, Math.max(0, every - age()));
    };
    arm();
    document.addEventListener("visibilitychange", arm);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", arm);
    };
  }, [stamp, every, isFetching, isEnabled, state]);
}
