import type { Schemas } from "../../../api/client";
import type { Facts } from "../../../graph/facts";
import { factsOf } from "../../../why/facts";

/**
 * Puts together what is known of a run's stages from several answers. Facts that say the same as last time stay the same objects, so
 * that boxes are drawn only when something in them changes.
 */
export class FactKeeper {
  #last: ReadonlyMap<string, Facts> = new Map<string, Facts>();

  keep(detail: Pick<Schemas["RunDetail"], "stages">, explained: Schemas["Explanation"] | undefined, rates: ReadonlyMap<string, number>, durations: ReadonlyMap<string, Schemas["Durations"]>): ReadonlyMap<string, Facts> {
    const said = explained ? factsOf(explained) : new Map<string, Facts>();
    const next = new Map<string, Facts>();
    for (const s of detail.stages) {
      const facts: Facts = {};
      // What was explained a moment ago is not said of a stage that has ended since.
      if (s.state === "running" || s.state === "planning") Object.assign(facts, said.get(s.name));
      const rate = rates.get(s.name);
      // As it is shown: a change of a thousandth is none.
      if (rate !== undefined) facts.rate = Number(rate.toPrecision(2));
      const d = durations.get(s.name);
      if (d?.p50_s !== undefined) facts.p50 = d.p50_s;
      if (d?.p95_s !== undefined) facts.p95 = d.p95_s;
      if (Object.keys(facts).length === 0) continue;
      const old = this.#last.get(s.name);
      next.set(s.name, old && same(old, facts) ? old : facts);
    }
    if (next.size !== this.#last.size || [...next].some(([name, f]) => this.#last.get(name) !== f)) this.#last = next;
    return this.#last;
  }
}

function same(a: Facts, b: Facts): boolean {
  return a.rate === b.rate && a.p50 === b.p50 && a.p95 === b.p95 && a.retrying === b.retrying && a.due === b.due && a.held === b.held && a.why === b.why;
}
