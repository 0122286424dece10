/** How an upstream counts for trigger rules: cancelled counts as failed. */
export type Ending = "succeeded" | "failed" | "upstream_failed" | "skipped";

/** A stage with its times, in ms. A stage without `end` takes no part. */
export interface Timed {
  name: string;
  upstreams: readonly string[];
  /** Trigger rule. */
  rule: string;
  /** The stage whose shards its shards follow one by one. */
  aligned?: string | undefined;
  ready?: number | undefined;
  end?: number | undefined;
  ending?: Ending | undefined;
  /** `end` is what is expected. */
  expected?: boolean;
}

/** A stage's part in how long the run took. */
export interface Part {
  /** It is on the critical path: the chain of stages, each of which waited for the one before it, that ends with what ended last. */
  critical: boolean;
  /** How much later, in ms, it could have ended without delaying the run. */
  slack: number;
  /** What it added to the run's time, in ms: from the end of what it waited for to its own end. Those of the critical path add up to the run's time. */
  added: number;
  /** The upstream whose end decided when it became ready; none if it waited for none. */
  after?: string;
  /** It rests on an end that is expected. */
  expected: boolean;
}

/**
 * The outcomes of one upstream that decide a rule at once, whatever the others will be; without one of them it is decided when all upstreams
 * are (trigger rules, "early decision"). `always` waits for nothing.
 */
const deciding: Record<string, readonly Ending[]> = {
  all_success: ["failed", "upstream_failed"],
  all_failed: ["succeeded", "skipped"],
  all_done: [],
  all_skipped: ["succeeded", "failed", "upstream_failed"],
  one_success: ["succeeded"],
  one_failed: ["failed", "upstream_failed"],
  one_done: ["succeeded", "failed"],
  none_failed: ["failed", "upstream_failed"],
  none_failed_min_one_success: ["failed", "upstream_failed"],
  none_skipped: ["skipped"],
  all_done_min_one_success: ["skipped"],
};

/** Database times of one transaction are equal; a stage counts as having waited for an upstream if it is ready no more than this before its end, in ms. */
const grain = 5;

interface Node {
  stage: Timed;
  end: number;
  /** Upstreams by index; those without an end are left out. */
  ups: readonly { index: number; decides: boolean }[];
  /** Its times follow from those of its upstreams. */
  waits: boolean;
  after: number | undefined;
  decided: number;
}

/**
 * When a stage's rule was decided, and by which upstream: by the first outcome that decides at once, else by the last of all.
 * `endOf` tells when an upstream ended.
 */
function decision(ups: Node["ups"], endOf: (index: number) => number): { at: number; by: number | undefined } {
  let first: number | undefined;
  let last: number | undefined;
  for (const { index, decides } of ups) {
    const end = endOf(index);
    if (last === undefined || end > endOf(last)) last = index;
    if (decides && (first === undefined || end < endOf(first))) first = index;
  }
  const by = first ?? last;
  return { at: by === undefined ? Number.NEGATIVE_INFINITY : endOf(by), by };
}

/**
 * Each stage's part in how long a run took, by name. `stages` stand in topological order, `start` is the run's creation. What a stage took, from when
 * its upstreams let it go to its end (queueing, retries and back-off included), is taken to be what it would have taken had
 * it begun later.
 */
export function parts(stages: readonly Timed[], start: number): Map<string, Part> {
  const index = new Map<string, number>();
  const nodes: Node[] = [];
  for (const stage of stages) {
    if (stage.end === undefined) continue;
    const early = deciding[stage.rule] ?? [];
    const ups = stage.upstreams.flatMap((name) => {
      const i = index.get(name);
      const ending = i === undefined ? undefined : nodes[i]?.stage.ending;
      return i === undefined ? [] : [{ index: i, decides: ending !== undefined && early.includes(ending) }];
    });
    const d = decision(stage.rule === "always" ? [] : ups, (i) => nodes[i]?.end ?? start);
    const waits = d.by !== undefined && (stage.aligned !== undefined || (stage.ready ?? stage.end) >= d.at - grain);
    index.set(stage.name, nodes.length);
    nodes.push({ stage, end: stage.end, ups, waits, after: waits ? d.by : undefined, decided: d.at });
  }
  let last: number | undefined;
  nodes.forEach((n, i) => {
    if (last === undefined || n.end >= (nodes[last]?.end ?? 0)) last = i;
  });
  const critical = new Set<number>();
  for (let i = last; i !== undefined; i = nodes[i]?.after) critical.add(i);
  const { slack } = new Delays(nodes, last === undefined ? start : (nodes[last]?.end ?? start));

  return new Map(
    nodes.map((n, i) => {
      const after = n.after === undefined ? undefined : nodes[n.after];
      const part: Part = {
        critical: critical.has(i),
        slack: slack[i] ?? 0,
        added: Math.max(0, n.end - (after?.end ?? start)),
        expected: (n.stage.expected ?? false) || (nodes[last ?? i]?.stage.expected ?? false),
        ...(after ? { after: after.stage.name } : {}),
      };
      return [n.stage.name, part];
    }),
  );
}

/**
 * Finds slack. Where every stage waits for all of its upstreams, or for one certain one, one pass from the end backwards is exact: a stage may be late by what
 * each stage after it may, and by the time that it ended before that one's decision. Where another upstream would have decided in its place, that pass says
 * too little, and the rest is found by trying delays.
 */
class Delays {
  readonly #nodes: readonly Node[];
  readonly #end: number;
  readonly #after: readonly number[][];
  readonly #delay: Float64Array;
  readonly slack: Float64Array;

  constructor(nodes: readonly Node[], end: number) {
    this.#nodes = nodes;
    this.#end = end;
    const after: number[][] = nodes.map(() => []);
    nodes.forEach((n, i) => {
      if (n.waits) for (const u of n.ups) after[u.index]?.push(i);
    });
    this.#after = after;
    this.#delay = new Float64Array(nodes.length);
    this.slack = new Float64Array(nodes.length);
    const least = new Float64Array(nodes.length);
    const loose = new Uint8Array(nodes.length);
    for (let i = nodes.length - 1; i >= 0; i--) {
      const n = nodes[i];
      if (!n) continue;
      least[i] = end - n.end;
      for (const j of after[i] ?? []) {
        const t = nodes[j];
        const deciders = t?.ups.filter((u) => u.decides).length ?? 0;
        if (loose[j] || deciders > 1) loose[i] = 1;
        if (t && (deciders === 0 || t.after === i)) least[i] = Math.min(least[i] ?? 0, t.decided - n.end + (least[j] ?? 0));
      }
      this.slack[i] = loose[i] ? this.#try(i, least[i] ?? 0) : (least[i] ?? 0);
    }
  }

  /** The largest delay of one stage's end, at least `least`, that leaves every end at or before the run's, in whole ms. The run's end never comes earlier for a delay, so it is found by halving. */
  #try(of: number, least: number): number {
    const own = this.#end - (this.#nodes[of]?.end ?? this.#end);
    if (least >= own || this.#fits(of, own)) return own;
    let good = least;
    let bad = own;
    while (bad - good > 1) {
      const middle = Math.floor((good + bad) / 2);
      if (this.#fits(of, middle)) good = middle;
      else bad = middle;
    }
    return good;
  }

  #fits(of: number, by: number): boolean {
    const delay = this.#delay.fill(0);
    delay[of] = by;
    const due = new Uint8Array(this.#nodes.length);
    for (const i of this.#after[of] ?? []) due[i] = 1;
    // Upstreams stand before what waits for them, so one pass is enough.
    for (let i = due.indexOf(1); i >= 0; i = due.indexOf(1, i + 1)) {
      const n = this.#nodes[i];
      if (!n) continue;
      const later = decision(n.ups, this.#endOf).at - n.decided;
      if (later <= 0) continue;
      if (n.end + later > this.#end) return false;
      delay[i] = later;
      for (const j of this.#after[i] ?? []) due[j] = 1;
    }
    return true;
  }

  readonly #endOf = (i: number): number => (this.#nodes[i]?.end ?? 0) + (this.#delay[i] ?? 0);
}

/**
 * Fills in what is expected of a run that is not over: a stage that runs ends after what it usually takes, now at the earliest, and what waits
 * begins when its upstreams let it go. Without a usual duration a stage is expected to take no time more.
 */
export function expect(stages: readonly Timed[], usual: ReadonlyMap<string, number>, now: number): Timed[] {
  const done = new Map<string, Timed>();
  for (const stage of stages) {
    if (stage.end !== undefined) {
      done.set(stage.name, stage);
      continue;
    }
    const takes = usual.get(stage.name) ?? 0;
    let ready = stage.ready;
    if (ready === undefined) {
      const early = deciding[stage.rule] ?? [];
      const ups = stage.upstreams.flatMap((name) => done.get(name) ?? []);
      const at = decision(
        stage.rule === "always" ? [] : ups.map((u, index) => ({ index, decides: u.ending !== undefined && early.includes(u.ending) })),
        (i) => ups[i]?.end ?? now,
      ).at;
      ready = Math.max(now, at);
    }
    done.set(stage.name, { ...stage, ready, end: Math.max(now, ready + takes), ending: "succeeded", expected: true });
  }
  return [...done.values()];
}
