import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import { typing } from "./typing";

/** A key that does something. */
export interface Shortcut {
  /** As `event.key` says it: `e`, `R`, `?`; two after each other: `g o`; with Ctrl or ⌘: `mod+k`. */
  key: string;
  /** What it does, for the sheet of shortcuts. */
  name: string;
  action: () => void;
}

/** What a key press is, of what a `KeyboardEvent` has. */
export type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "target" | "defaultPrevented">;

/** After the first of two keys, the second has so long, in ms. */
const patience = 1200;

/** The shortcuts that are there now; what came last wins over an equal key. */
export class Shortcuts {
  #groups: { group: string; list: readonly Shortcut[] }[] = [];
  #watchers = new Set<() => void>();
  #first: { key: string; at: number } | undefined;
  #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Has the shortcuts until the returned function is called. */
  add(group: string, list: readonly Shortcut[]): () => void {
    const entry = { group, list };
    this.#set([...this.#groups, entry]);
    return () => this.#set(this.#groups.filter((e) => e !== entry));
  }

  /** All of them by group, for the sheet. */
  get groups(): readonly { group: string; list: readonly Shortcut[] }[] {
    return this.#groups;
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  /** Does what a key press is for, and says whether it was for something. Keys that are typed into a text, or belong to a dialog or menu, are not. */
  press(event: Press): boolean {
    if (event.defaultPrevented || event.altKey) return false;
    const mod = event.ctrlKey || event.metaKey;
    if (!mod && (typing(event.target) || inside(event.target))) return false;
    const key = mod ? `mod+${event.key.toLowerCase()}` : event.key;
    const first = this.#first;
    this.#first = undefined;
    const pair = first !== undefined && this.#now() - first.at < patience ? this.#find(`${first.key} ${key}`) : undefined;
    const found = pair ?? this.#find(key);
    if (found) {
      found.action();
      return true;
    }
    if (this.#groups.some((g) => g.list.some((s) => s.key.startsWith(`${key} `)))) this.#first = { key, at: this.#now() };
    return false;
  }

  #find(key: string): Shortcut | undefined {
    return this.#groups.flatMap((g) => g.list).findLast((s) => s.key === key);
  }

  #set(groups: { group: string; list: readonly Shortcut[] }[]): void {
    this.#groups = groups;
    for (const w of this.#watchers) w();
  }
}

const inside = (target: EventTarget | null): boolean => target instanceof Element && target.closest("[role=dialog],[role=menu],[role=listbox]") !== null;

/** The page's shortcuts. */
export const shortcuts = new Shortcuts();

/** Has a key do something while the component is mounted; the sheet (`?`) lists it under "This screen". */
export function useShortcut(key: string, name: string, action: () => void): void {
  const act = useEffectEvent(action);
  useEffect(() => shortcuts.add("This screen", [{ key, name, action: () => act() }]), [key, name]);
}

/** The shortcuts that are there now. */
export const useShortcutList = (): readonly { group: string; list: readonly Shortcut[] }[] =>
  useSyncExternalStore(
    (changed) => shortcuts.watch(changed),
    () => shortcuts.groups,
  );
