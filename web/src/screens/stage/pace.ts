/** How many were done at a time, in ms. */
export interface Sample {
  at: number;
  done: number;
}

/** The rate is that of the last so many ms. */
const span = 15_000;

/** Adds a sample and drops what is older than the span, but for one, so that there is a whole span to divide by. A count that fell begins anew. */
export function sampled(samples: readonly Sample[], next: Sample): Sample[] {
  const last = samples.at(-1);
  if (last && next.done < last.done) return [next];
  if (last && next.at <= last.at) return [...samples];
  const kept = samples.filter((s, i) => next.at - s.at <= span || next.at - (samples[i + 1] ?? next).at < span);
  return [...kept, next];
}

/** Things a second over the samples and up to now; undefined before there are two that are a second apart. */
export function paceOf(samples: readonly Sample[], now: number): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.at - first.at < 1000) return undefined;
  return (last.done - first.done) / ((Math.max(last.at, now) - first.at) / 1000);
}
