import type { Schemas } from "../api/client";

/** A link of the drawing: between stages, or to or from a joint. */
export interface Link {
  from: string;
  to: string;
  /** The stage whose rule it shows; of a joint's incoming side, the first of those that wait behind the joint. */
  waiting: string;
  /** It follows from others, so it is drawn only when somebody looks at one of its ends. */
  implied: boolean;
}

/** What is drawn of a graph. */
export interface Drawing {
  /** Points at which many upstreams meet before many stages, by id. */
  joints: string[];
  links: Link[];
}

/** So many upstreams before so many stages are drawn through a joint: m + n links instead of m × n. */
const crowd = 3;

/** Ids of joints; no stage's name has a blank. */
const jointId = (n: number): string => `joint ${n}`;

/** Tells whether a node of a drawing is a joint and not a stage. */
export const isJoint = (id: string): boolean => id.startsWith("joint ");

type Spec = Pick<Schemas["GraphStage"], "name" | "upstreams" | "rule">;

/**
 * What to draw of a graph so that it stays readable. A link that follows from others (A before C, where A is before B and B before C) is
 * marked as implied. Stages that wait for the same many upstreams by the same rule are drawn behind one joint. Upstreams stand
 * before what comes after them in `stages`, as the API has it.
 */
export function condense(stages: readonly Spec[]): Drawing {
  const reduced = reduce(stages);
  const groups = new Map<string, Spec[]>();
  for (const s of stages) {
    const direct = reduced.get(s.name) ?? [];
    if (direct.length < crowd) continue;
    const key = JSON.stringify([s.rule, [...direct].sort()]);
    groups.set(key, [...(groups.get(key) ?? []), s]);
  }
  const jointOf = new Map<string, string>();
  const joints: string[] = [];
  const links: Link[] = [];
  for (const group of groups.values()) {
    const first = group[0];
    if (group.length < crowd || !first) continue;
    const joint = jointId(joints.length);
    joints.push(joint);
    for (const s of group) jointOf.set(s.name, joint);
    for (const from of reduced.get(first.name) ?? []) links.push({ from, to: joint, waiting: first.name, implied: false });
    for (const s of group) links.push({ from: joint, to: s.name, waiting: s.name, implied: false });
  }
  for (const s of stages) {
    const direct = new Set(reduced.get(s.name));
    for (const from of s.upstreams) {
      if (!direct.has(from)) links.push({ from, to: s.name, waiting: s.name, implied: true });
      else if (!jointOf.has(s.name)) links.push({ from, to: s.name, waiting: s.name, implied: false });
    }
  }
  return { joints, links };
}

/** The upstreams of each stage that do not follow from its others. Sets of ancestors are bits, so that 1,000 stages cost little. */
function reduce(stages: readonly Spec[]): Map<string, string[]> {
  const index = new Map(stages.map((s, i) => [s.name, i]));
  const words = Math.ceil(stages.length / 32);
  const above: Uint32Array[] = [];
  const out = new Map<string, string[]>();
  for (const s of stages) {
    const ups = s.upstreams.flatMap((u) => index.get(u) ?? []);
    // Ancestors of its upstreams: whoever is in it is above by another way.
    const further = new Uint32Array(words);
    for (const u of ups) above[u]?.forEach((w, i) => (further[i] = (further[i] ?? 0) | w));
    out.set(
      s.name,
      s.upstreams.filter((name) => {
        const u = index.get(name);
        return u !== undefined && ((further[u >> 5] ?? 0) & (1 << (u & 31))) === 0;
      }),
    );
    for (const u of ups) further[u >> 5] = (further[u >> 5] ?? 0) | (1 << (u & 31));
    above.push(further);
  }
  return out;
}
