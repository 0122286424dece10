import { expect, test } from "vitest";
import { staleBuild } from "./staleBuild";

test.each([
    "Failed to fetch dynamically imported module: http://x/assets/RunScreen-1.js", // Chromium
    "error loading dynamically imported module: http://x/assets/RunScreen-1.js", // Firefox
    "Importing a module script failed.", // Safari
    "Unable to preload CSS for /assets/RunScreen-1.css", // Vite
])("a part of the page is gone: %s", (text) => {
  expect(staleBuild(new TypeError(text))).toBe(true);
});

test("other faults are faults", () => {
  expect(staleBuild(new TypeError("Cannot read properties of undefined"))).toBe(false);
  expect(staleBuild("x")).toBe(false);
});
