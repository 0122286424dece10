/** How much of a box is drawn: `near` everything, `mid` and `low` its name in larger letters, `far` its colour and bar. */
export type Zoom = "near" | "mid" | "low" | "far";

/** The zoom of a scale. */
export const zoomOf = (scale: number): Zoom => (scale < 0.26 ? "far" : scale < 0.46 ? "low" : scale < 0.7 ? "mid" : "near");

/**
 * What changes often and concerns few boxes: which one is selected or can be reached by Tab, which are lit, and how near the reader is.
 * Boxes listen to what they need of it, so that a hover in a graph of 500 draws only those that it changes.
 */
export class Spotlight {
  #listeners = new Set<() => void>();
  /** Only these are lit; undefined lights all. */
  lit: ReadonlySet<string> | undefined;
  selected: string | undefined;
  /** The one box that Tab leads to; arrows lead on from there. */
  stop: string | undefined;
  zoom: Zoom = "near";

  set(change: Partial<Pick<Spotlight, "lit" | "selected" | "stop" | "zoom">>): void {
    Object.assign(this, change);
    for (const l of this.#listeners) l();
  }

  subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };

  /** How a box is to be drawn, as one string, so that it is drawn anew only if that changes. */
  of(id: string): string {
    return `${this.zoom} ${this.lit && !this.lit.has(id) ? "dim" : "lit"} ${this.selected === id ? "selected" : "-"} ${this.stop === id ? "stop" : "-"}`;
  }
}
