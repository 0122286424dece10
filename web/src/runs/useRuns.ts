import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { answer, api, type Schemas } from "../api/client";
import { keys } from "../api/keys";
import { useLiveRuns, usePoll } from "../api/live/useLive";
import { holdsRun, inReach, inserted, nothingWaits, updated, waiting, type Pages, type Waiting } from "./live";
import { matches } from "./matches";

type Run = Schemas["Run"];

/** How many pages in a row may hold nothing before the search waits for the reader's word. */
const patience = 8;

/** How long frames are gathered before the list is changed, in ms: a burst of them is drawn once. */
const gather = 150;

/** A list of runs, live. */
export interface Runs {
  rows: readonly Run[];
  /** The first page is being read. */
  loading: boolean;
  error: Error | null;
  retry: () => void;
  /** Reads the next page; undefined while there is none, while one is being read, and while `paused`. */
  more: (() => void) | undefined;
  reading: boolean;
  /** There is more further back. */
  hasMore: boolean;
  /** Many pages held nothing: `goOn` looks further back. */
  stopped: boolean;
  goOn: () => void;
  /** How far back has been looked, if the server says so. */
  searchedTo: string | undefined;
  /** How many runs wait to be shown; `more` of it says that there may be others. */
  fresh: { count: number; more: boolean };
  show: () => void;
}

/**
 * Reads the runs that a search finds, page by page, and follows the stream: what the list shows changes in place, what is new to it waits
 * until `show`. `flow` narrows what the stream is asked for, where the search is about that flow only.
 */
export function useRuns(q: string, flow?: string): Runs {
  const cache = useQueryClient();
  const key = useMemo(() => keys.runList(q), [q]);
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => answer(api.GET("/api/v1/runs", { params: { query: { limit: 100, ...(q ? { q } : {}), ...(pageParam ? { cursor: pageParam } : {}) } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor,
    // The stream keeps it up to date; reading it again would move its rows.
    refetchOnWindowFocus: false,
    refetchInterval: usePoll(5_000, false),
  });
  const { data, fetchNextPage, isFetchingNextPage, hasNextPage } = list;

  const [waits, setWaits] = useState<{ q: string; w: Waiting }>({ q, w: nothingWaits });
  const held = waits.q === q ? waits.w : nothingWaits;
  const frames = useRef<Run[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const flush = () => {
    timer.current = undefined;
    const runs = frames.current.splice(0);
    const before = cache.getQueryData<Pages>(key);
    if (!before) return;
    let pages = before;
    const now = new Date();
    const others: Run[] = [];
    for (const run of runs) {
      if (holdsRun(pages, run.id)) pages = updated(pages, run);
      else if (inReach(pages, run.id)) others.push(run);
    }
    if (pages !== before) cache.setQueryData(key, pages);
    if (others.length > 0)
      setWaits((old) => {
        const start = old.q === q ? old.w : nothingWaits;
        const w = others.reduce((kept, run) => waiting(kept, run, matches(q, run, now)), start);
        return w === start && old.q === q ? old : { q, w };
      });
  };
  useLiveRuns(
    (run) => {
      frames.current.push(run);
      timer.current ??= setTimeout(flush, gather);
    },
    () => void cache.invalidateQueries({ queryKey: key, exact: true }),
    flow,
  );

  const show = useCallback(() => {
    const known = cache.getQueryData<Pages>(key);
    if (known && held.runs.size > 0) cache.setQueryData(key, inserted(known, [...held.runs.values()]));
    setWaits({ q, w: nothingWaits });
    if (held.more) void cache.invalidateQueries({ queryKey: key, exact: true });
  }, [cache, key, held, q]);

  const rows = useMemo(() => data?.pages.flatMap((p) => p.items) ?? [], [data]);
  const [allowed, setAllowed] = useState({ q, pages: patience });
  const mayLook = allowed.q === q ? allowed.pages : patience;
  const idle = trailingEmpty(data?.pages ?? []);
  const stopped = hasNextPage && idle >= mayLook;
  const next = useCallback(() => void fetchNextPage({ cancelRefetch: false }), [fetchNextPage]);
  return {
    rows,
    loading: list.isPending,
    error: list.error,
    retry: () => void list.refetch(),
    more: hasNextPage && !isFetchingNextPage && !stopped && !list.isError ? next : undefined,
    reading: isFetchingNextPage,
    hasMore: hasNextPage,
    stopped,
    goOn: () => {
      setAllowed({ q, pages: idle + patience });
      next();
    },
    searchedTo: data?.pages.at(-1)?.searched_to,
    fresh: { count: held.runs.size, more: held.more },
    show,
  };
}

/** How many pages at the end hold nothing. */
function trailingEmpty(pages: readonly Schemas["RunList"][]): number {
  const last = pages.findLastIndex((p) => p.items.length > 0);
  return pages.length - 1 - last;
}
