import type { Schemas } from "../../api/client";
import { expect, parts, type Ending, type Part, type Timed } from "./criticalpath";

const endings: Partial<Record<Schemas["StageState"], Ending>> = { succeeded: "succeeded", failed: "failed", cancelled: "failed", skipped: "skipped", upstream_failed: "upstream_failed" };

/** What is needed of the API's answers; `usual` is there for runs that are not over. */
export interface Known {
  detail: Schemas["RunDetail"];
  flow: Schemas["Flow"];
  usual?: Schemas["RunUsual"] | undefined;
}

/** A time of the API in ms; undefined stays. */
export const ms = (at: string | undefined): number | undefined => (at === undefined ? undefined : Date.parse(at));

/** Each stage's part in how long the run took, or is expected to take, by name. `now` in ms matters while it is not over. */
export function runParts({ detail, flow, usual }: Known, now: number): Map<string, Part> {
  const start = Date.parse(detail.run.created_at);
  const status = new Map(detail.stages.map((s) => [s.name, s]));
  const timed = flow.graph.stages.map((g): Timed => {
    const s = status.get(g.name);
    return {
      name: g.name,
      upstreams: g.upstreams,
      // A teardown waits until all before it has ended, whatever became of it.
      rule: g.teardown_of ? "all_done" : g.rule,
      aligned: g.aligned_to,
      ready: ms(s?.ready_at),
      end: ms(s?.finished_at),
      ending: s && endings[s.state],
    };
  });
  const over = detail.run.finished_at !== undefined;
  return parts(over ? timed : expect(timed, new Map(usual?.stages.map((u) => [u.stage, u.p50_s * 1000])), now), start);
}
