import { createElement, useEffect, useState } from "react";
import { useIdle } from "./useIdle";

/** A part of the page that is loaded after the first look. */
export interface Part<P extends object> {
  load: () => Promise<{ default: React.ComponentType<P> }>;
  loaded: React.ComponentType<P> | undefined;
  /** It could not be loaded although the server answers. Browsers remember that of a module: only another load of the page helps. */
  broken: boolean;
}

/** Declares a part; `load` imports its file. */
export const part = <P extends object>(load: Part<P>["load"]): Part<P> => ({ load, loaded: undefined, broken: false });

/** After so many ms it is tried again, where the server did not answer. */
const pause = 5_000;

/**
 * The place of a part, which is loaded when the page is idle, or at once when it is wanted, be it `soon` or `now`; until then `fallback` is there.
 * `props` are the part's, undefined shows nothing. Unlike `lazy` it never fails: a server that is away for a moment, or serves another
 * version by now, takes nothing away that is already seen. What is wanted now and cannot be had but by that loads the page again.
 */
export function Later<P extends object>({ of, props, wanted, fallback }: { of: Part<P>; props: P | undefined; wanted: "soon" | "now" | undefined; fallback?: React.ReactNode }): React.ReactNode {
  const idle = useIdle();
  const [, loaded] = useState(of.loaded !== undefined);
  const [tries, again] = useState(0);
  const now = wanted === "now";
  const begin = of.loaded === undefined && (of.broken ? now : idle || wanted !== undefined);
  useEffect(() => {
    if (!begin) return;
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    void get(of, now).then((got) => {
      if (over) return;
      if (got) loaded(true);
      else timer = setTimeout(() => again(tries + 1), pause);
    });
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [begin, now, of, tries]);
  return of.loaded && props ? createElement(of.loaded, props) : fallback;
}

/** Loads a part, if the server answers. Asking first costs a moment that nobody waits for, and keeps modules from failing for good. */
async function get<P extends object>(of: Part<P>, now: boolean): Promise<boolean> {
  if (!(await answers())) return false;
  if (of.broken) {
    if (now) reload();
    return false;
  }
  try {
    of.loaded = (await of.load()).default;
    return true;
  } catch {
    of.broken = true;
    return false;
  }
}

let asked: { at: number; answer: Promise<boolean> } | undefined;

/** Whether the server answers; parts that are loaded together ask once. */
function answers(): Promise<boolean> {
  if (!asked || Date.now() - asked.at > 500) {
    const answer = fetch("/icon.svg", { method: "HEAD", cache: "no-store" }).then(
      (response) => response.ok,
      () => false,
    );
    asked = { at: Date.now(), answer };
  }
  return asked.answer;
}

/** Loads the page again, but not again and again. */
function reload(): void {
  const key = "ax.reloaded";
  if (Date.now() - Number(sessionStorage.getItem(key) ?? 0) < 30_000) return;
  sessionStorage.setItem(key, String(Date.now()));
  window.location.reload();
}
