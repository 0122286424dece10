import type { Inks } from "./painter";
import { palette } from "./palette";

/** The colours that the browser makes of CSS ones within an element, in its theme: a canvas knows no custom properties. */
export function inksOf(within: Element): Inks {
  const probe = document.createElement("span");
  probe.hidden = true;
  within.append(probe);
  const resolve = (css: string): string => {
    probe.style.color = css;
    return getComputedStyle(probe).color;
  };
  const [text, surface] = [resolve("var(--text)"), resolve("var(--surface)")];
  const dark = getComputedStyle(within).colorScheme.includes("dark") && isLight(text);
  const inks = { palette: palette.map(resolve), dark: dark ? surface : text, light: dark ? text : surface, select: text, cursor: text };
  probe.remove();
  return inks;
}

/** Says whether a colour that the browser has resolved is a light one; it reads the first number of each channel. */
function isLight(color: string): boolean {
  const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return r + g + b > 382;
}
