import { useReactFlow } from "@xyflow/react";
import { useMemo, useState } from "react";
import type { Schemas } from "../api/client";
import { plural } from "../ui/format";
import { isJoint, type Link } from "./condense";
import { nearest, sample } from "./curves";
import type { Drawn } from "./Links";
import { edgeWords, ruleWords } from "./rules";
import css from "./StageGraph.module.css";

/** The link under the pointer, by its place, and where the pointer is in the canvas, in px. */
export interface Pointed {
  place: number;
  x: number;
  y: number;
}

/** Finds the link under the pointer: links are a few paths together, so it is looked for by distance. */
export function useHint(drawn: readonly Drawn[], links: readonly Link[], box: React.RefObject<HTMLElement | null>) {
  const { screenToFlowPosition, getZoom } = useReactFlow();
  const [hint, setHint] = useState<Pointed>();
  const lines = useMemo(() => drawn.map((d, i) => (links[i]?.implied ? [] : sample(d.points))), [drawn, links]);
  const onMove = (event: React.MouseEvent) => {
    const at = screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const place = nearest(lines, at, 7 / getZoom());
    const frame = box.current?.getBoundingClientRect();
    setHint(place === undefined || !frame ? undefined : { place, x: event.clientX - frame.left, y: event.clientY - frame.top });
  };
  return { hint, onMove, onLeave: () => setHint(undefined) };
}

/** What the link under the pointer waits for, in words. */
export function Hint({ hint, links, specs }: { hint: Pointed; links: readonly Link[]; specs: ReadonlyMap<string, Schemas["GraphStage"]> }) {
  const link = links[hint.place];
  const spec = link && specs.get(link.waiting);
  if (!link || !spec) return null;
  const behind = links.filter((l) => l.from === link.to).length;
  const text = isJoint(link.to)
    ? `${link.from} → ${plural(behind, "stage")}: ${spec.rule}: each ${ruleWords(spec.rule).runs}`
    : isJoint(link.from)
      ? `${plural(spec.upstreams.length, "upstream")} → ${link.to}: ${spec.rule}: ${ruleWords(spec.rule).runs}`
      : edgeWords(link.from, spec);
  return (
    <div className={css["hint"]} role="status" style={{ left: hint.x, top: hint.y }}>
      {text}
    </div>
  );
}
