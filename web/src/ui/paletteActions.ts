import { useEffect, useEffectEvent, useSyncExternalStore } from "react";

/** Something that the palette (Ctrl-K) offers. */
export interface PaletteAction {
  name: string;
  /** A few words beside it. */
  hint?: string;
  action: () => void;
}

let groups: { list: readonly PaletteAction[] }[] = [];
let all: readonly PaletteAction[] = [];
const watchers = new Set<() => void>();

function set(next: typeof groups): void {
  groups = next;
  all = groups.flatMap((g) => g.list);
  for (const w of watchers) w();
}

/** Has the palette offer actions of the current screen while the component is mounted. They are registered anew when names or hints change. */
export function usePaletteActions(actions: readonly PaletteAction[]): void {
  const run = useEffectEvent((index: number) => actions[index]?.action());
  const text = JSON.stringify(actions.map(({ name, hint }) => ({ name, ...(hint === undefined ? {} : { hint }) })));
  useEffect(() => {
    const named: { name: string; hint?: string }[] = JSON.parse(text);
    const group = { list: named.map((a, i) => ({ ...a, action: () => run(i) })) };
    set([...groups, group]);
    return () => set(groups.filter((g) => g !== group));
  }, [text]);
}

/** The actions of the current screen. */
export const usePaletteList = (): readonly PaletteAction[] =>
  useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => all,
  );
