/** What is known of a stage besides its counts, for its box. Every field is left out where it says nothing. */
export interface Facts {
  /** Shards that end a second, now. */
  rate?: number;
  /** Durations of its shards in seconds. */
  p50?: number;
  p95?: number;
  /** Tasks that wait for their next attempt, and when the first is due. */
  retrying?: number;
  due?: string;
  /** Why it does not move, in few words: "queue nightly is paused". */
  held?: string;
  /** The whole reason. */
  why?: string;
}
