import type { Schemas } from "../../api/client";
import type { Tone } from "../../ui/states";
import { duration } from "../../ui/format";

type Circuit = Schemas["Circuit"];

const tones: Record<Circuit["state"], Tone> = { closed: "succeeded", open: "failed", "half-open": "retrying" };

/** The shape and colour of a circuit's state. */
export const toneOfCircuit = (c: Circuit): Tone => tones[c.state];

/** What the state means now. `now` is in ms. */
export function meaning(c: Circuit, now: number): string {
  switch (c.state) {
    case "closed":
      return "work passes";
    case "half-open":
      return "one task probes; its success closes it";
    case "open": {
      if (c.manual) return "work waits until it is closed by hand";
      const left = c.until === undefined ? 0 : (new Date(c.until).getTime() - now) / 1000;
      return left > 0 ? `work waits; a task probes in ${duration(left)}` : "work waits; the next task probes";
    }
  }
}

/** A circuit's name with its kind, which makes it unique. */
export const idOf = (c: Pick<Circuit, "kind" | "name">): string => `${c.kind}/${c.name}`;

/** The circuits that a search finds: by name, kind, state, or in the last error. Several words must all hold. */
export function matches(c: Circuit, search: string): boolean {
  return search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .every((word) => idOf(c).toLowerCase().includes(word) || c.state === word || (word === "manual" && c.manual) || (c.last_error ?? "").toLowerCase().includes(word));
}

const rank: Record<Circuit["state"], number> = { open: 0, "half-open": 1, closed: 2 };

/** Circuits that hold work first, then by kind and name. */
export const inOrder = (list: readonly Circuit[]): Circuit[] => list.toSorted((a, b) => rank[a.state] - rank[b.state] || idOf(a).localeCompare(idOf(b)));
