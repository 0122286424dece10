import type { Schemas } from "../api/client";

/** What a verb takes besides a reason. */
export type ActField = "force" | "level" | "output" | "stage" | "canary" | "per_second";

/** An operator's verb. */
export interface Verb {
  /** On buttons and in menus: "Cancel". */
  name: string;
  /** What was done, in a toast: "Cancelled". */
  past: string;
  /** One sentence on what it does. */
  says: string;
  needs: Schemas["Permission"];
  /** It stops or gives up work that cannot be had back, so its button is red and it is not the default of Enter. */
  danger?: boolean;
  fields?: readonly ActField[];
}

/** The verbs on runs, by the API's names. */
export const runVerbs = {
  cancel: { name: "Cancel", past: "Cancelled", says: "Stops what runs, and the runs that it has started. Teardowns still run.", needs: "runs:operate", danger: true, fields: ["force"] },
  pause: { name: "Pause", past: "Paused", says: "Hands nothing of it out until it is resumed. What runs goes on.", needs: "runs:operate" },
  resume: { name: "Resume", past: "Resumed", says: "Ends the pause.", needs: "runs:operate" },
  retry: { name: "Retry failed", past: "Retried", says: "Runs everything again that has failed for good, and what depends on it.", needs: "runs:operate" },
  level: { name: "Set level", past: "Set the level of", says: "Sets the level of everything that is not in flight.", needs: "runs:operate", fields: ["level"] },
  expedite: { name: "Expedite", past: "Expedited", says: "Moves it one level up, towards P0.", needs: "runs:operate" },
  demote: { name: "Demote", past: "Demoted", says: "Moves it one level down, towards P5.", needs: "runs:operate" },
} as const satisfies Record<string, Verb>;

/** The verbs on stages and their shards, by the API's names. */
export const stageVerbs = {
  retry: { name: "Retry failed", past: "Retried", says: "Runs again what has failed for good, and what depends on it.", needs: "runs:operate" },
  rerun: { name: "Rerun", past: "Rerun", says: "Runs the stage and everything after it again, in a new generation. What it produced before stays in the results.", needs: "runs:operate", danger: true },
  skip: { name: "Skip", past: "Skipped", says: "What has not succeeded never runs. Stages after it go by their trigger rules.", needs: "runs:operate", danger: true },
  "mark-success": { name: "Mark as succeeded", past: "Marked as succeeded:", says: "Counts what has not succeeded as succeeded, with the output that you give.", needs: "runs:operate", danger: true, fields: ["output"] },
  replay: { name: "Replay dead letters", past: "Replayed", says: "Runs the stage’s dead letters again, at once.", needs: "runs:operate" },
  discard: { name: "Discard dead letters", past: "Discarded", says: "Gives the stage’s dead letters up. They cannot be replayed then.", needs: "runs:operate", danger: true },
  level: { name: "Set level", past: "Set the level of", says: "Sets the stage’s own level, for everything that is not in flight.", needs: "runs:operate", fields: ["level"] },
  expedite: { name: "Expedite", past: "Expedited", says: "Moves the stage one level up, towards P0.", needs: "runs:operate" },
  demote: { name: "Demote", past: "Demoted", says: "Moves the stage one level down, towards P5.", needs: "runs:operate" },
} as const satisfies Record<string, Verb>;

/** The verbs by filter, by the API's names. */
export const bulkVerbs = {
  cancel: { ...runVerbs.cancel, says: "Stops what runs of them, and the runs that they have started. Teardowns still run." },
  pause: { ...runVerbs.pause, says: "Hands nothing of them out until they are resumed. What runs goes on." },
  resume: { ...runVerbs.resume, says: "Ends their pause." },
  retry: { ...runVerbs.retry, says: "Runs everything again that has failed for good, and what depends on it." },
  rerun: { ...stageVerbs.rerun, says: "Runs one stage of each, and everything after it, again in a new generation.", fields: ["stage"] },
  skip: { ...stageVerbs.skip, says: "What has not succeeded of one stage of each never runs. Stages after it go by their trigger rules.", fields: ["stage"] },
  "mark-success": { ...stageVerbs["mark-success"], says: "Counts one stage of each as succeeded, with the output that you give.", fields: ["stage", "output"] },
  level: { ...runVerbs.level, says: "Sets the level of everything of them that is not in flight." },
  expedite: { ...runVerbs.expedite, says: "Moves each one level up, towards P0." },
  demote: { ...runVerbs.demote, says: "Moves each one level down, towards P5." },
} as const satisfies Record<string, Verb>;

/** The verbs on everything else. */
export const otherVerbs = {
  pauseFlow: { name: "Pause flow", past: "Paused", says: "Hands out nothing of the flow’s runs until it is resumed. What runs goes on.", needs: "flows:operate" },
  resumeFlow: { name: "Resume flow", past: "Resumed", says: "Ends the flow’s pause.", needs: "flows:operate" },
  pauseQueue: { name: "Pause queue", past: "Paused", says: "Hands out nothing of the queue until it is resumed. What runs goes on.", needs: "fleet:operate" },
  resumeQueue: { name: "Resume queue", past: "Resumed", says: "Ends the queue’s pause.", needs: "fleet:operate" },
  clearQueue: { name: "Reset to defaults", past: "Reset", says: "Takes the queue’s settings back to the defaults.", needs: "fleet:operate", danger: true },
  setQueue: { name: "Change settings", past: "Changed", says: "Changes the queue’s settings.", needs: "fleet:operate" },
  setPool: { name: "Set slots", past: "Set the slots of", says: "Sets how many slots each worker has for the handler.", needs: "fleet:operate" },
  clearPool: { name: "Leave to the workers", past: "Reset", says: "Leaves the number of slots to the workers again.", needs: "fleet:operate" },
  drain: { name: "Drain worker", past: "Draining", says: "Hands the worker nothing more. It gives back what it has not started, finishes what runs, and ends. There is no way back: start another worker.", needs: "fleet:operate", danger: true },
  openCircuit: { name: "Open circuit", past: "Opened", says: "Holds all work that depends on it, until it is closed by hand.", needs: "fleet:operate", danger: true },
  closeCircuit: { name: "Close circuit", past: "Closed", says: "Lets work through again, without a probe.", needs: "fleet:operate" },
  replayDead: { name: "Replay", past: "Replaying", says: "Runs the dead letters again: the canary first, the rest only if all of the canary succeed.", needs: "runs:operate", fields: ["canary", "per_second"] },
  discardDead: { name: "Discard", past: "Discarded", says: "Gives the dead letters up. They cannot be replayed then.", needs: "runs:operate", danger: true },
  cancelReplay: { name: "Cancel replay", past: "Cancelled", says: "Ends the replay. What it has moved goes on.", needs: "runs:operate" },
  switchOn: { name: "Turn on", past: "Turned on", says: "Turns the part on again, for the whole database.", needs: "settings:admin" },
  switchOff: { name: "Turn off", past: "Turned off", says: "Turns the part off while everything runs, for the whole database. A plain fallback takes its place.", needs: "settings:admin", danger: true },
} as const satisfies Record<string, Verb>;

export type RunVerb = keyof typeof runVerbs;
export type StageVerb = keyof typeof stageVerbs;
export type BulkVerb = keyof typeof bulkVerbs;
