import type { Schemas } from "../api/client";

type Run = Schemas["Run"];

/** The pages of a list as the query cache holds them. */
export interface Pages {
  pages: Schemas["RunList"][];
  pageParams: (string | undefined)[];
}

/** Whether `a` tells something newer of a run than `b`. Without etags the one that came later is taken. */
const newer = (a: Run, b: Run): boolean => a.etag === undefined || b.etag === undefined || a.etag > b.etag || (a.etag === b.etag && stagesDiffer(a, b));

/** Stages move without the run's etag: their tally is compared by itself. */
const stagesDiffer = (a: Run, b: Run): boolean => JSON.stringify(a.stages) !== JSON.stringify(b.stages);

/**
 * The pages with what is newer of a run that they hold, in its place: rows do not move under the pointer, not even one that the search
 * would not find any more. The same pages if they do not hold it or know it already.
 */
export function updated(data: Pages, run: Run): Pages {
  for (const [p, page] of data.pages.entries()) {
    const i = page.items.findIndex((r) => r.id === run.id);
    const known = page.items[i];
    if (!known) continue;
    if (!newer(run, known)) return data;
    return { ...data, pages: data.pages.with(p, { ...page, items: page.items.with(i, run) }) };
  }
  return data;
}

/** Whether the pages hold the run. */
export const holdsRun = (data: Pages, id: string): boolean => data.pages.some((page) => page.items.some((r) => r.id === id));

/** Whether the run has its place within what the pages have read, and not further back. */
export function inReach(data: Pages, id: string): boolean {
  const end = data.pages.at(-1);
  if (!end?.next_cursor) return true;
  const oldest = data.pages.flatMap((p) => p.items).at(-1);
  return oldest !== undefined && id > oldest.id;
}

/** The pages with runs that are new to them, each where its id puts it: ids are ordered by time, the newest first. */
export function inserted(data: Pages, runs: readonly Run[]): Pages {
  const pages = data.pages.map((page) => ({ ...page, items: [...page.items] }));
  for (const run of runs) {
    if (pages.some((page) => page.items.some((r) => r.id === run.id))) continue;
    const page = pages.find((p) => (p.items.at(-1)?.id ?? "~") < run.id) ?? pages.at(-1);
    if (!page) continue;
    const at = page.items.findIndex((r) => r.id < run.id);
    page.items.splice(at === -1 ? page.items.length : at, 0, run);
  }
  return { ...data, pages };
}

/** What the stream told of runs that a list does not show yet, by id. */
export interface Waiting {
  runs: ReadonlyMap<string, Run>;
  /** There are more than are kept, or some that only the server can tell whether they belong: the list has to be read anew. */
  more: boolean;
}

export const nothingWaits: Waiting = { runs: new Map(), more: false };

const mostKept = 200;

/** What waits after one more run was told of. `match` is whether the search finds it. */
export function waiting(w: Waiting, run: Run, match: "yes" | "no" | "maybe"): Waiting {
  if (match === "maybe") return w.more ? w : { ...w, more: true };
  const known = w.runs.get(run.id);
  if (match === "no") {
    if (!known) return w;
    const runs = new Map(w.runs);
    runs.delete(run.id);
    return { ...w, runs };
  }
  if (known && !newer(run, known)) return w;
  if (!known && w.runs.size >= mostKept) return w.more ? w : { ...w, more: true };
  return { ...w, runs: new Map(w.runs).set(run.id, run) };
}
