import { ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import { curve, head } from "./curves";
import type { Look } from "./looks";
import css from "./Links.module.css";
import type { Point } from "./shape";

/** A link with its way. */
export interface Drawn {
  points: readonly Point[];
  look: Look;
  /** It ends at a stage and not at a joint. */
  arrow: boolean;
}

/**
 * All links of a graph. Those that look the same are one path, so that 1,500 links are a dozen elements, and a change of state changes a
 * few strings.
 */
export const Links = memo(function Links({ links, dim }: { links: readonly Drawn[]; dim: boolean }) {
  const paths = useMemo(() => group(links), [links]);
  return (
    <ViewportPortal>
      <svg className={css["links"]} data-dim={dim || undefined} aria-hidden>
        {paths.map(({ key, look, lines, heads }) => (
          <g key={key} data-kind={look.kind} data-state={look.state}>
            {look.kind === "aligned" && <path d={lines} data-part="wide" />}
            <path d={lines} />
            <path d={heads} data-part="head" />
          </g>
        ))}
      </svg>
    </ViewportPortal>
  );
});

/** The links of what the reader looks at, above the others. */
export function LitLinks({ links }: { links: readonly Drawn[] }) {
  return (
    <ViewportPortal>
      <svg className={css["lit"]} aria-hidden>
        <path d={links.map((l) => curve(l.points)).join("")} />
        <path d={links.map((l) => (l.arrow ? head(l.points) : "")).join("")} data-part="head" />
      </svg>
    </ViewportPortal>
  );
}

function group(links: readonly Drawn[]) {
  const groups = new Map<string, { key: string; look: Look; lines: string; heads: string }>();
  for (const l of links) {
    const key = `${l.look.kind} ${l.look.state}`;
    const g = groups.get(key) ?? { key, look: l.look, lines: "", heads: "" };
    g.lines += curve(l.points);
    if (l.arrow) g.heads += head(l.points);
    groups.set(key, g);
  }
  return [...groups.values()];
}
