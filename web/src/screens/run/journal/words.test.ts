import { expect, test } from "vitest";
import { detailWords } from "./words";

test.each([
  [undefined, "", ""],
  [null, "", ""],
  ["text", "", ""],
  [{ reason: "INC-1", force: false }, "INC-1", ""],
  [{ force: true, level: "P1", from_level: 2, list: [1, 2], none: null }, "", "force · level P1 · from level 2 · list [1,2]"],
])("%o", (detail, reason, rest) => expect(detailWords(detail)).toEqual({ reason, rest }));
