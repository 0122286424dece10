import type { Schemas } from "../../api/client";

type Level = Schemas["Level"];

/** The levels, the most urgent first. */
export const levels: readonly Level[] = ["P0", "P1", "P2", "P3", "P4", "P5"];

/**
 * How old the oldest waiting task of a level may be before the page calls it late, in seconds. What waits rises a level a minute, so P2
 * is served like P1 after a minute; it has had several turns by then and is late when they did not suffice.
 */
export const lateAfter: Record<Level, number> = { P0: 10, P1: 60, P2: 300, P3: 900, P4: 3600, P5: 4 * 3600 };

/** How hot a cell of the backlog is: 0 nothing waits, 1 fresh, 2 half of what is allowed, 3 late, 4 four times too old. */
export type Heat = 0 | 1 | 2 | 3 | 4;

/** The heat of work of a level, by the age of its oldest task. */
export function heat(level: Level, depth: number, oldestS: number): Heat {
  if (depth === 0) return 0;
  const share = oldestS / lateAfter[level];
  if (share >= 4) return 4;
  if (share >= 1) return 3;
  return share >= 0.5 ? 2 : 1;
}

/** Whether work of a level has waited too long. */
export const late = (cell: Schemas["LevelBacklog"]): boolean => heat(cell.level, cell.depth, cell.oldest_s) >= 3;
