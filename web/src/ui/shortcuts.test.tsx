import { expect, test, vi } from "vitest";
import { Shortcuts, type Press } from "./shortcuts";

const press = (key: string, more: Partial<Press> = {}): Press => ({ key, ctrlKey: false, metaKey: false, altKey: false, defaultPrevented: false, target: document.body, ...more });

test("a key does what was registered last, until that is gone", () => {
  const s = new Shortcuts();
  const first = vi.fn<() => void>();
  const second = vi.fn<() => void>();
  s.add("a", [{ key: "e", name: "x", action: first }]);
  const end = s.add("b", [{ key: "e", name: "y", action: second }]);
  expect(s.press(press("e"))).toBe(true);
  end();
  expect(s.press(press("e"))).toBe(true);
  expect([first.mock.calls.length, second.mock.calls.length]).toEqual([1, 1]);
  expect(s.press(press("E"))).toBe(false);
});

test("what is typed is no shortcut, except with Ctrl or ⌘", () => {
  const s = new Shortcuts();
  const action = vi.fn<() => void>();
  s.add("a", [
    { key: "e", name: "x", action },
    { key: "mod+k", name: "y", action },
  ]);
  const area = document.createElement("textarea");
  const box = document.createElement("input");
  const tick = document.createElement("input");
  tick.type = "checkbox";
  expect(s.press(press("e", { target: area }))).toBe(false);
  expect(s.press(press("e", { target: box }))).toBe(false);
  expect(s.press(press("e", { target: tick }))).toBe(true);
  expect(s.press(press("K", { target: box, ctrlKey: true }))).toBe(true);
  expect(s.press(press("k", { target: box, metaKey: true }))).toBe(true);
  expect(s.press(press("e", { ctrlKey: true }))).toBe(false);
  expect(s.press(press("e", { altKey: true }))).toBe(false);
  expect(s.press(press("e", { defaultPrevented: true }))).toBe(false);
});

test("keys inside dialogs and menus belong to these", () => {
  const s = new Shortcuts();
  s.add("a", [{ key: "e", name: "x", action: () => {} }]);
  const dialog = document.createElement("div");
  dialog.setAttribute("role", "dialog");
  const button = document.createElement("button");
  dialog.append(button);
  expect(s.press(press("e", { target: button }))).toBe(false);
});

test("two keys after each other, within the time", () => {
  let now = 0;
  const s = new Shortcuts(() => now);
  const o = vi.fn<() => void>();
  const plain = vi.fn<() => void>();
  s.add("go", [{ key: "g o", name: "Overview", action: o }]);
  s.add("screen", [{ key: "o", name: "Open", action: plain }]);
  expect(s.press(press("g"))).toBe(false);
  expect(s.press(press("o"))).toBe(true);
  expect([o.mock.calls.length, plain.mock.calls.length]).toEqual([1, 0]);
  s.press(press("g"));
  now += 5000;
  s.press(press("o"));
  expect([o.mock.calls.length, plain.mock.calls.length]).toEqual([1, 1]);
  s.press(press("g"));
  s.press(press("x"));
  s.press(press("o"));
  expect([o.mock.calls.length, plain.mock.calls.length]).toEqual([1, 2]);
});
