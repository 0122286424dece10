import { expect, test } from "vitest";
import { stateOf } from "./tokens";

const now = Date.parse("2026-11-30T00:00:00Z");

test("a token is active until it is revoked or over", () => {
  expect(stateOf({}, now)).toBe("active");
  expect(stateOf({ expires_at: "2026-11-30T00:00:01Z" }, now)).toBe("active");
  expect(stateOf({ expires_at: "2026-11-30T00:00:00Z" }, now)).toBe("expired");
  expect(stateOf({ expires_at: "2027-01-01T00:00:00Z", revoked_at: "2026-11-01T00:00:00Z" }, now)).toBe("revoked");
});
