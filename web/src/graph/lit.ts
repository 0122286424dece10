import { isJoint, type Link } from "./condense";

/**
 * The places of the links to light. About one stage: those that lead to it and from it, through joints as well, and those that follow
 * from others. With `within`, the pinned stage's up- and downstream: all between stages in it.
 */
export function litLinks(links: readonly Link[], about: string, within?: ReadonlySet<string>): number[] {
  const places: number[] = [];
  if (within) {
    const holds = (id: string) => isJoint(id) || within.has(id);
    // Of a joint's links only those count whose other end is in, on both sides of it.
    const entered = new Set(links.filter((l) => isJoint(l.to) && within.has(l.from)).map((l) => l.to));
    const left = new Set(links.filter((l) => isJoint(l.from) && within.has(l.to)).map((l) => l.from));
    links.forEach((l, i) => {
      if (l.implied || !holds(l.from) || !holds(l.to)) return;
      if (isJoint(l.to) && !left.has(l.to)) return;
      if (isJoint(l.from) && !entered.has(l.from)) return;
      places.push(i);
    });
    return places;
  }
  const behind = new Set<string>();
  const before = new Set<string>();
  for (const l of links) {
    if (l.to === about && isJoint(l.from)) before.add(l.from);
    if (l.from === about && isJoint(l.to)) behind.add(l.to);
  }
  links.forEach((l, i) => {
    if (l.from === about || l.to === about || before.has(l.to) || behind.has(l.from)) places.push(i);
  });
  return places;
}
