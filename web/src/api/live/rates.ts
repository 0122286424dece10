/** A counter's value at a time, in ms. */
interface Sample {
  at: number;
  done: number;
}

/** The rate is taken over at least so long, in ms. */
const least = 10_000;

/** …or as long as it takes to see so many finished, because one every half minute is no rate of ten seconds … */
const enough = 10;

/** … but never over more than this, in ms. */
const most = 120_000;

/** Samples that come closer together than this, in ms, are one. */
const grain = 500;

/**
 * How fast counters go up, by name, from their values as they were told: the API tells counts and no rates. A counter that goes down
 * (a rerun) begins anew. Times are those of one clock, in ms.
 */
export class Rates {
  readonly #of = new Map<string, Sample[]>();

  /** Tells a counter's value. Values that have not changed need not be told. */
  tell(name: string, at: number, done: number): void {
    const samples = this.#of.get(name);
    const last = samples?.at(-1);
    if (!samples || !last || done < last.done) {
      this.#of.set(name, [{ at, done }]);
      return;
    }
    if (done === last.done || at < last.at) return;
    const before = samples.at(-2);
    if (before && at - before.at < grain) samples[samples.length - 1] = { at, done };
    else samples.push({ at, done });
    // One that is older than the longest window stays, to count from.
    while (samples.length > 2 && at - (samples[1]?.at ?? at) > most) samples.shift();
  }

  /** The counter's rate a second lately, undefined if it has been watched for less than a second. */
  rate(name: string, now: number): number | undefined {
    const samples = this.#of.get(name);
    const last = samples?.at(-1);
    const first = samples?.[0];
    if (!samples || !last || !first || now - first.at < 1000) return undefined;
    if (now - last.at > most) return 0;
    let from = first;
    for (let i = samples.length - 1; i >= 0; i--) {
      const s = samples[i];
      if (!s) continue;
      from = s;
      if (now - s.at >= most || (now - s.at >= least && last.done - s.done >= enough)) break;
    }
    // A counter stays where it is until it is told anew, so that what is older than the window counts from the window's beginning.
    return ((last.done - from.done) * 1000) / Math.min(Math.max(now - from.at, 1), most);
  }
}
