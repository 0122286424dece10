import type { Schemas } from "../../../api/client";

/** In `durations` and `started`: there is none. */
export const noTime = 0xffff_ffff;

/** In `workers`: there is none. */
export const noWorker = 0xffff;

/** All shards of a stage as typed arrays, one entry a shard in the order of their indices. */
export interface Packed {
  total: number;
  generation: number;
  /** When it was read, in ms since the epoch. */
  at: number;
  /** What the bytes of `states` mean. */
  names: readonly Schemas["ShardState"][];
  states: Uint8Array;
  /** 255 is 255 or more; 0 is none yet. */
  attempts?: Uint8Array;
  /** Of the newest attempt that has ended, in ms; `noTime` for none. */
  durations?: Uint32Array;
  /** In ms since `startedFrom`; `noTime` for none. */
  started?: Uint32Array;
  startedFrom?: number;
  /** Places in `workerIds`; `noWorker` for none. */
  workers?: Uint16Array;
  workerIds?: readonly string[];
}

/** Decodes what the API packs (openapi.yaml, PackedShards). It throws an error that names the array whose length is not the stage's. */
export function unpack(p: Schemas["PackedShards"]): Packed {
  const n = Math.max(0, p.total);
  const out: Packed = { total: p.total, generation: p.generation, at: Date.parse(p.at), names: p.state_names, states: bytesOf("states", p.states, n) };
  if (p.attempts !== undefined) out.attempts = bytesOf("attempts", p.attempts, n);
  if (p.durations !== undefined) out.durations = words32("durations", p.durations, n);
  if (p.started !== undefined) out.started = words32("started", p.started, n);
  if (p.started_from !== undefined) out.startedFrom = Date.parse(p.started_from);
  if (p.workers !== undefined) out.workers = words16("workers", p.workers, n);
  if (p.worker_ids !== undefined) out.workerIds = p.worker_ids;
  return out;
}

function bytesOf(what: string, base64: string, length: number): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  if (text.length !== length) throw new Error(`The server sent ${text.length} bytes of ${what} where ${length} were due.`);
  const out = new Uint8Array(length);
  for (let i = 0; i < length; i++) out[i] = text.charCodeAt(i);
  return out;
}

// The API says little-endian, whatever this machine is.
function words32(what: string, base64: string, n: number): Uint32Array {
  const view = new DataView(bytesOf(what, base64, 4 * n).buffer);
  const out = new Uint32Array(n);
  for (let i = 0; i < n; i++) out[i] = view.getUint32(4 * i, true);
  return out;
}

function words16(what: string, base64: string, n: number): Uint16Array {
  const view = new DataView(bytesOf(what, base64, 2 * n).buffer);
  const out = new Uint16Array(n);
  for (let i = 0; i < n; i++) out[i] = view.getUint16(2 * i, true);
  return out;
}
