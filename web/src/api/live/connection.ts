import { token } from "../token";
import { frameReader, type Frame } from "./frames";

/** How the stream is: `live` (frames or beats come), `connecting`, `stale` (it broke; it is tried again), `paused` (by the reader), `off` (nobody listens). */
export type LiveState = "off" | "connecting" | "live" | "stale" | "paused";

/** What a listener wants to hear of: one run, the runs of one flow, or (neither) all runs of the namespace. */
export interface Topic {
  run?: string;
  flow?: string;
}

type Listener = { topic: Topic; hear: (frame: Frame) => void };

/** A beat comes every 15 s; after so long without a sign the stream is taken to be dead, in ms. */
const silence = 40_000;

/** The most runs and the most flows of one stream (openapi.yaml, streamEvents). */
const most = 20;

/**
 * The page's one event stream. Listeners come and go as screens do; the stream is opened for all their topics together and opened anew
 * when these change. It is read with fetch, because EventSource cannot send a token.
 */
export class Connection {
  #listeners = new Set<Listener>();
  #watchers = new Set<() => void>();
  #state: LiveState = "off";
  #since = Date.now();
  #paused = false;
  #query = "";
  #last = "";
  #abort: AbortController | undefined;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Bytes of all frames since the page was opened; bench-web reads it. */
  bytes = 0;

  get state(): LiveState {
    return this.#state;
  }

  /** When the stream came into its state, in ms. */
  get since(): number {
    return this.#since;
  }

  /** Calls `changed` whenever `state` has changed, until the returned function is called. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  /** Has `hear` called with every frame until the returned function is called. It filters nothing: other screens' frames come as well. */
  listen(topic: Topic, hear: (frame: Frame) => void): () => void {
    const listener = { topic, hear };
    this.#listeners.add(listener);
    this.#soon(0);
    return () => {
      this.#listeners.delete(listener);
      this.#soon(200);
    };
  }

  pause(): void {
    this.#paused = true;
    this.#close();
    this.#set(this.#listeners.size > 0 ? "paused" : "off");
  }

  resume(): void {
    this.#paused = false;
    this.#query = "";
    this.#soon(0);
  }

  /** Screens that are left and entered in one go must not open two streams, so topics are looked at a moment later. */
  #soon(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#follow(), ms);
  }

  #follow(): void {
    if (this.#listeners.size === 0) {
      this.#close();
      this.#set("off");
      return;
    }
    if (this.#paused) {
      this.#set("paused");
      return;
    }
    const query = streamQuery([...this.#listeners].map((l) => l.topic));
    if (this.#abort && query === this.#query) return;
    if (query !== this.#query) this.#last = "";
    this.#query = query;
    this.#close();
    void this.#open(query);
  }

  async #open(query: string): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    if (this.#state !== "stale") this.#set("connecting");
    let alive = setTimeout(() => abort.abort(), silence);
    try {
      const headers = new Headers({ Accept: "text/event-stream" });
      const t = token.get();
      if (t) headers.set("Authorization", `Bearer ${t}`);
      if (this.#last) headers.set("Last-Event-ID", this.#last);
      const response = await fetch(`/api/v1/events${query}`, { headers, signal: abort.signal, cache: "no-store" });
      if (!response.ok || !response.body) throw new Error(`the stream was refused: ${response.status}`);
      this.#failures = 0;
      this.#set("live");
      const frames = frameReader();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        clearTimeout(alive);
        alive = setTimeout(() => abort.abort(), silence);
        this.bytes += value.length;
        for (const frame of frames.push(value)) this.#hear(frame);
      }
    } catch {
      // Whatever broke it, it is opened again below.
    }
    clearTimeout(alive);
    if (this.#abort !== abort) return;
    this.#abort = undefined;
    this.#failures++;
    this.#set("stale");
    this.#soon(Math.min(500 * 2 ** Math.min(this.#failures, 6), 15_000) * (0.75 + Math.random() / 2));
  }

  #hear(frame: Frame): void {
    if (frame.id !== undefined) this.#last = frame.id;
    for (const l of this.#listeners) l.hear(frame);
  }

  #close(): void {
    const abort = this.#abort;
    this.#abort = undefined;
    abort?.abort();
  }

  #set(state: LiveState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#since = Date.now();
    for (const w of this.#watchers) w();
  }
}

/** The query of the stream that covers all topics; a topic without run and flow takes in every run's frames but no counters. */
export function streamQuery(topics: readonly Topic[]): string {
  const runs = [...new Set(topics.flatMap((t) => t.run ?? []))].sort().slice(0, most);
  const all = topics.some((t) => t.run === undefined && t.flow === undefined);
  const flows = all ? [] : [...new Set(topics.flatMap((t) => t.flow ?? []))].sort().slice(0, most);
  const query = new URLSearchParams([...runs.map((r) => ["run", r]), ...flows.map((f) => ["flow", f])]).toString();
  return query ? `?${query}` : "";
}
