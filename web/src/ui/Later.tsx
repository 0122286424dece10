import { createElement, useEffect, useState } from "react";
import { useIdle } from "./useIdle";

/** A part of the page that is loaded after the first look. */
export interface Part<P extends object> {
  load: () => Promise<{ default: React.ComponentType<P> }>;
  loaded: React.ComponentType<P> | undefined;
}

/** Declares a part; `load` imports its file. */
export const part = <P extends object>(load: Part<P>["load"]): Part<P> => ({ load, loaded: undefined });

/** After so many ms it is tried again, where the server did not answer. */
const pause = 5_000;

/**
 * The place of a part, which is loaded when the page is idle, or at once when it is `wanted`; until then `fallback` is there. `props` are the part's,
 * undefined shows nothing. Unlike `lazy` it never fails: a server that is away for a moment takes nothing away that is already seen.
 */
export function Later<P extends object>({ of, props, wanted, fallback }: { of: Part<P>; props: P | undefined; wanted: boolean; fallback?: React.ReactNode }): React.ReactNode {
  const idle = useIdle();
  const [, loaded] = useState(of.loaded !== undefined);
  const [tries, again] = useState(0);
  const begin = (idle || wanted) && of.loaded === undefined;
  useEffect(() => {
    if (!begin) return;
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    of.load().then(
      (module) => {
        of.loaded = module.default;
        if (!over) loaded(true);
      },
      () => {
        if (!over) timer = setTimeout(() => again(tries + 1), pause);
      },
    );
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [begin, of, tries]);
  return of.loaded && props ? createElement(of.loaded, props) : fallback;
}
