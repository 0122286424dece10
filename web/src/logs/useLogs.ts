import { useEffect, useEffectEvent, useReducer, useState } from "react";
import { answer, api, type Schemas } from "../api/client";
import { useLiveStatus } from "../api/live/useLive";
import { add, noLines, type Level, type Lines } from "./lines";

/** Which lines. */
export interface LogTopic {
  run: string;
  stage?: string | undefined;
  /** Needs `stage`. */
  shard?: number | undefined;
  /** Needs `shard`. */
  attempt?: number | undefined;
  /** The least level. */
  level: Level;
}

/** How the reading goes: `reading` what is there, `following` what comes, `ended`, or `failed`. */
export type Reading = "reading" | "following" | "ended" | "failed";

interface State {
  /** Goes up with each try of the reader. */
  round: number;
  lines: Lines;
  reading: Reading;
  error?: unknown;
}

/** So many of the newest lines are read first; who wants all of them asks for `whole`. */
export const tail = 1000;

type News = { lines: Parameters<typeof add>[1]; reading: Reading } | { error: unknown } | { round: number };

function hear(state: State, news: News): State {
  if ("round" in news) return { round: news.round, lines: noLines, reading: "reading" };
  if ("error" in news) return { ...state, reading: "failed", error: news.error };
  return { round: state.round, lines: add(state.lines, news.lines), reading: news.reading };
}

/**
 * Reads a log and follows it until the run has ended: its newest lines, or with `whole` all of them from the first. It waits at the API for
 * what comes, so lines are here when they are stored; not while the reader has paused the page.
 */
export function useLogs({ run, stage, shard, attempt, level }: LogTopic, whole: boolean): State & { retry: () => void } {
  const [state, dispatch] = useReducer(hear, { round: 0, lines: noLines, reading: "reading" });
  const [round, setRound] = useState(0);
  const { state: live } = useLiveStatus();
  const paused = useEffectEvent(() => live === "paused");
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const query = { ...(stage === undefined ? {} : { stage }), ...(stage === undefined || shard === undefined ? {} : { shard }), ...(shard === undefined || attempt === undefined ? {} : { attempt }), level };
    dispatch({ round });
    const follow = async () => {
      let cursor: string | undefined;
      let more = true;
      for (let failures = 0; !signal.aborted; ) {
        if (!more && paused()) {
          await sleep(500);
          continue;
        }
        const from = cursor === undefined ? (whole ? {} : { tail }) : { cursor };
        try {
          const page: Schemas["LogList"] = await answer(api.GET("/api/v1/runs/{run}/logs", { params: { path: { run }, query: { ...query, ...from, limit: 1000, ...(more ? {} : { wait_s: 20 }) } }, signal }));
          if (signal.aborted) return;
          failures = 0;
          cursor = page.next_cursor;
          more = page.more ?? false;
          dispatch({ lines: page.items, reading: page.ended ? "ended" : more ? "reading" : "following" });
          if (page.ended) return;
        } catch (error) {
          if (signal.aborted) return;
          // What has been read stays; a first reading that fails is said at once, a broken one is taken up again.
          if (cursor === undefined || ++failures > 5) return dispatch({ error });
          await sleep(500 * 2 ** failures);
        }
      }
    };
    void follow();
    return () => abort.abort();
  }, [run, stage, shard, attempt, level, whole, round]);
  return { ...state, retry: () => setRound((n) => n + 1) };
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
