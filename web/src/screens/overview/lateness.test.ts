import { expect, test } from "vitest";
import { heat } from "./lateness";

test.each([
  ["P0", 5, 0, 1], ["P0", 5, 4.9, 1], ["P0", 5, 5, 2], ["P0", 5, 10, 3], ["P0", 5, 40, 4], ["P0", 0, 40, 0],
  ["P2", 1, 149, 1], ["P2", 1, 150, 2], ["P2", 1, 300, 3], ["P2", 1, 1199, 3], ["P2", 1, 1200, 4],
  ["P5", 1, 3600, 1], ["P5", 1, 7200, 2], ["P5", 1, 14_400, 3],
] as const)("%s with %d tasks, the oldest %d s old, has heat %d", (level, depth, age, want) => expect(heat(level, depth, age)).toBe(want));
