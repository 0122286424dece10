import type { ActRequest } from "../../acts/request";
import { discardDead, replayDead, stageAct } from "../../acts/requests";
import { otherVerbs, stageVerbs } from "../../acts/verbs";
import type { Schemas } from "../../api/client";
import { plural } from "../../ui/format";
import { byStage, type Part } from "./letters";

/** Replays groups: one replay each, with the same canary and rate. `began` hears of the replays that have begun. */
export function replayGroups(groups: readonly Schemas["DeadGroup"][], narrow: Schemas["DeadFilter"], began: (ids: string[]) => void): ActRequest {
  const which = groups.length === 1 && groups[0] ? `${plural(groups[0].count, "dead letter")} of ${groups[0].flow}/${groups[0].stage}` : `${plural(groups.length, "group")} of dead letters`;
  const ids: string[] = [];
  return {
    ...replayDead({}, which),
    run: async (act) => {
      const touched: Schemas["Touch"][] = [];
      for (const g of groups) {
        const replay = await replayDead(filterOfGroup(g, narrow), which).run(act);
        if (!("total" in replay)) continue;
        if (replay.id) ids.push(replay.id);
        touched.push({ stage: `${g.flow}/${g.stage}`, tasks: replay.total, what: replay.canary && replay.canary < replay.total ? `run again, ${replay.canary} of them first as the canary` : "run again" });
      }
      return { dry_run: act.dry_run, touched };
    },
    done: () => began(ids),
  };
}

/** Gives groups up. */
export function discardGroups(groups: readonly Schemas["DeadGroup"][], narrow: Schemas["DeadFilter"]): ActRequest {
  const which = groups.length === 1 && groups[0] ? `${plural(groups[0].count, "dead letter")} of ${groups[0].flow}/${groups[0].stage}` : `${plural(groups.length, "group")} of dead letters`;
  return {
    ...discardDead({}, which),
    run: async (act) => {
      const all: Schemas["BulkResult"] = { dry_run: act.dry_run, runs: [], failed: 0, more: false };
      for (const g of groups) {
        const one = await discardDead(filterOfGroup(g, narrow), which).run(act);
        if (!("runs" in one)) continue;
        all.runs.push(...one.runs);
        all.failed += one.failed;
        all.more ||= one.more;
      }
      return all;
    },
  };
}

/** A group's filter, within the filter that the screen shows, so that what is not shown is not touched. */
const filterOfGroup = (g: Schemas["DeadGroup"], narrow: Schemas["DeadFilter"]): Schemas["DeadFilter"] => ({ ...narrow, flow: g.flow, stage: g.stage, fingerprint: g.fingerprint });

/** Replays single letters, or gives them up: at once, stage by stage. */
export function onLetters(letters: readonly Schemas["DeadLetter"][], verb: "replay" | "discard"): ActRequest {
  const parts = byStage(letters);
  const which = plural(letters.length, "dead letter");
  const [first] = parts;
  const base = first ? stageAct(first.run, first.stage, verb, first.shards) : undefined;
  return {
    title: `${verb === "replay" ? "Replay" : "Discard"} ${which}`,
    target: which,
    verb: verb === "replay" ? { ...stageVerbs.replay, name: otherVerbs.replayDead.name, says: "Runs these dead letters again, at once." } : otherVerbs.discardDead,
    stale: base?.stale ?? [],
    run: async (act) => {
      const touched: Schemas["Touch"][] = [];
      for (const p of parts) touched.push(...(await touchedOf(p, verb, act)));
      return { dry_run: act.dry_run, touched };
    },
  };
}

async function touchedOf(p: Part, verb: "replay" | "discard", act: Parameters<ActRequest["run"]>[0]): Promise<Schemas["Touch"][]> {
  const result = await stageAct(p.run, p.stage, verb, p.shards).run(act);
  return "touched" in result ? result.touched : [];
}

/** Replays all that a filter picks, as one replay. */
export function replayMatching(filter: Schemas["DeadFilter"], which: string, began: (ids: string[]) => void): ActRequest {
  const ids: string[] = [];
  const base = replayDead(filter, which);
  return {
    ...base,
    run: async (act) => {
      const replay = await base.run(act);
      if ("total" in replay && replay.id) ids.push(replay.id);
      return replay;
    },
    done: () => began(ids),
  };
}
