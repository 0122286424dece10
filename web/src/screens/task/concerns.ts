import type { Schemas } from "../../api/client";

/** Says whether a line of the journal is about a task: it names a set of shards that holds it, or no shards at all. */
export function concerns(line: Schemas["JournalLine"], stage: string, index: number): boolean {
  if (line.stage !== undefined && line.stage !== stage) return false;
  const detail = line.detail;
  const set = typeof detail === "object" && detail !== null && "shards" in detail ? detail.shards : undefined;
  return typeof set !== "string" || set === "" || holds(set, index);
}

/** Says whether a set of shards such as `0-99,117` holds one. */
export const holds = (set: string, index: number): boolean =>
  set.split(",").some((part) => {
    const m = /^(-?\d+)(?:-(\d+))?$/.exec(part.trim());
    return m !== null && index >= Number(m[1]) && index <= Number(m[2] ?? m[1]);
  });

/** The detail of a line in words: the reason first. */
export function reasonOf(detail: unknown): string {
  if (typeof detail !== "object" || detail === null) return "";
  const fields = Object.entries(detail).filter(([, v]) => v !== null && v !== "" && v !== false && v !== 0);
  const reason = fields.find(([k]) => k === "reason");
  return [...(reason ? [String(reason[1])] : []), ...fields.filter(([k]) => k !== "reason").map(([k, v]) => `${k.replaceAll("_", " ")} ${typeof v === "string" ? v : JSON.stringify(v)}`)].join(" · ");
}
