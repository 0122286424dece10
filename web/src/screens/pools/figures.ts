import type { Schemas } from "../../api/client";
import { count, plural } from "../../ui/format";

type Pool = Schemas["Pool"];

/** The name of a handler: flow/stage. */
export const nameOf = (p: Pick<Pool, "flow" | "stage">): string => `${p.flow}/${p.stage}`;

/** The pools that a search finds: by flow/stage, or by `set` (by an operator), `busy` (over 80 %), `unserved` (no worker has it). Several words must all hold. */
export function matches(p: Pool, search: string): boolean {
  return search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .every((word) => nameOf(p).toLowerCase().includes(word) || (word === "set" && p.set !== undefined) || (word === "busy" && p.flagged) || (word === "unserved" && p.workers === 0));
}

/** How many slots each worker has, and who says so. */
export function perWorker(p: Pool): string {
  if (p.set !== undefined) return count(p.set);
  if (p.workers === 0) return "–";
  const mean = p.slots / p.workers;
  return Number.isInteger(mean) ? count(mean) : `${mean.toFixed(1)} on average`;
}

/** What setting the slots would come to: "64 in all on 4 workers". */
export const allTogether = (p: Pool, slots: number | undefined): string => (slots === undefined || p.workers === 0 ? "" : `${plural(slots * p.workers, "slot")} in all on ${plural(p.workers, "worker")}; there are ${count(p.slots)} now.`);
