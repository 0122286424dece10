import type { Schemas } from "../../api/client";

/** The search params of the screen, each a part of the filter. `since` is an age such as `24h`, or a time. */
export interface DeadSearch {
  flow?: string | undefined;
  stage?: string | undefined;
  fingerprint?: string | undefined;
  code?: string | undefined;
  run?: string | undefined;
  since?: string | undefined;
}

/** The ages that can be chosen. */
export const ages = ["1h", "24h", "7d"] as const;

const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The time that `since` means at `now` (ms), to the minute, so that asking again within it is asking the same; undefined for what cannot be read. */
export function sinceTime(since: string | undefined, now: number): string | undefined {
  if (!since) return undefined;
  const age = /^(\d{1,5})([mhd])$/.exec(since);
  const at = age ? Math.floor((now - Number(age[1]) * (units[age[2] ?? ""] ?? 0)) / 60_000) * 60_000 : Date.parse(since);
  return Number.isFinite(at) ? new Date(at).toISOString() : undefined;
}

/** The API's filter of an address; what is no id of a run is left out, because the API would refuse all of it. */
export function filterOf(s: DeadSearch, now: number): Schemas["DeadFilter"] {
  const since = sinceTime(s.since, now);
  return {
    ...(s.flow && { flow: s.flow }),
    ...(s.stage && { stage: s.stage }),
    ...(s.fingerprint && { fingerprint: s.fingerprint }),
    ...(s.code && { code: s.code }),
    ...(s.run && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(s.run) && { run: s.run }),
    ...(since && { since }),
  };
}

/** What a filter picks, in words that follow "Replay": "dead letters of daily-recon/compare with bad_row". */
export function filterWords(f: Schemas["DeadFilter"]): string {
  const where = f.flow ? ` of ${f.flow}${f.stage ? `/${f.stage}` : ""}` : f.stage ? ` of stage ${f.stage}` : "";
  return `dead letters${where}${f.code ? ` with ${f.code}` : ""}${f.fingerprint ? ` of group ${f.fingerprint.slice(0, 6)}` : ""}${f.run ? ` of run …${f.run.slice(-4)}` : ""}${f.since ? ` since ${f.since.slice(0, 16).replace("T", " ")} UTC` : ""}`;
}
