import { beforeEach, expect, test, vi } from "vitest";
import { setTheme, theme } from "./theme";

beforeEach(() => {
  localStorage.clear();
  delete document.documentElement.dataset["theme"];
});

test("the system decides until somebody chooses", () => {
  expect(theme()).toBe("system");
  setTheme("dark");
  expect([theme(), document.documentElement.dataset["theme"], localStorage.getItem("ax.theme")]).toEqual(["dark", "dark", "dark"]);
  setTheme("system");
  expect([theme(), document.documentElement.dataset["theme"], localStorage.getItem("ax.theme")]).toEqual(["system", undefined, null]);
});

test("rubbish in the storage is the system's theme", () => {
  localStorage.setItem("ax.theme", "pink");
  expect(theme()).toBe("system");
});

test("without storage the choice lasts as long as the page", () => {
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new Error("off");
  });
  vi.spyOn(Storage.prototype, "getItem").mockImplementation(() => {
    throw new Error("off");
  });
  setTheme("light");
  expect(theme()).toBe("light");
});
