import { count, duration, percent } from "../../ui/format";
import type { Skew } from "./skew";

/** A skew in two sentences: how uneven it is, and what splitting the slowest shard would bring, if that is known and worth it. */
export function skewWords(s: Skew): { before: string; shard: string; after: string } {
  const many = s.slowest === 1 ? "The slowest shard" : `The slowest ${count(s.slowest)} shards (1 %)`;
  const saves = s.saves !== undefined && s.saves >= 1000 ? ` Split in ${s.pieces}, the stage would have ended about ${duration(s.saves / 1000)} sooner.` : "";
  return {
    before: `${many} took ${percent(s.share, 1)} of all the time: `,
    shard: `shard ${s.index}`,
    after: ` alone ${duration(s.took / 1000)}, ${s.middle > 0 ? `${count(Math.round(s.took / s.middle))} times the middle one (${duration(s.middle / 1000)})` : "the middle one next to nothing"}.${saves}`,
  };
}
