import type { Schemas } from "../api/client";
import type { Facts } from "../graph/facts";
import { heldBy } from "./gates";

/** What an explanation of a run says of its stages, for the boxes of its graph. Stages of which it says nothing are left out. */
export function factsOf(e: Schemas["Explanation"]): Map<string, Facts> {
  const out = new Map<string, Facts>();
  for (const s of e.stages ?? []) {
    if (s.stage === undefined) continue;
    const groups = s.groups ?? [];
    const facts: Facts = {};
    const backing = groups.filter((g) => g.fate === "retrying");
    if (backing.length > 0) {
      facts.retrying = backing.reduce((n, g) => n + g.tasks, 0);
      const due = backing.flatMap((g) => g.due ?? []).sort()[0];
      if (due !== undefined) facts.due = due;
    }
    // While something of it runs, what the others wait for is no trouble.
    const moving = groups.some((g) => g.fate === "in_flight" || g.fate === "child");
    const held = heldBy([...(s.gates ?? []), ...groups.filter((g) => g.fate === "ready" || g.fate === "retrying").flatMap((g) => g.gates ?? [])].filter((g) => !moving || g.name === "paused" || g.name === "stuck" || g.name === "leader"));
    if (held !== undefined) facts.held = held;
    if (facts.retrying !== undefined || facts.held !== undefined) {
      facts.why = s.diagnosis;
      out.set(s.stage, facts);
    }
  }
  return out;
}
