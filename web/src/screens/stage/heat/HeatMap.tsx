import { useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { usePaintVersion } from "../../../ui/paint";
import { diff } from "./diff";
import css from "./HeatMap.module.css";
import { inksOf } from "./inks";
import { fit, moved, nearest, placeAt, xOf, yOf, type Layout } from "./layout";
import type { Looks } from "./look";
import type { Order } from "./order";
import { Painter, ready, type Scene } from "./painter";
import { between, toggled, type Mask } from "./selection";

/** The least and the greatest side of a cell with its gap, in CSS pixels. */
const least = 3;
const most = 22;

/**
 * One cell a shard, in reading order. Dragging selects, Ctrl adds, Shift extends; arrow keys move a cursor, Shift with them extends, Enter
 * or a double click opens, Escape clears. Cells stand on one canvas, the outline of the selection on a second, and what follows the pointer on a
 * third, so that a hover draws one rectangle.
 */
export function HeatMap({
  total,
  looks,
  order,
  selected,
  onSelect,
  onOpen,
  card,
  say,
  summary,
  height,
}: {
  total: number;
  /** Undefined while they are being read: the room is kept. */
  looks: Looks | undefined;
  order: Order | undefined;
  selected: Mask | undefined;
  onSelect: (mask: Mask | undefined) => void;
  onOpen: (index: number) => void;
  /** What is shown beside a shard's cell. */
  card: (index: number) => React.ReactNode;
  /** A shard in words, for screen readers. */
  say: (index: number) => string;
  /** What the map shows, for screen readers. */
  summary: string;
  /** The height to fit if cells need not be smaller than 3 px for it; else it scrolls. In CSS pixels. */
  height: number;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const cells = useRef<HTMLCanvasElement>(null);
  const marks = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const painter = useRef<Painter>(undefined);
  const drawn = useRef<{ scene: Scene; inks: number }>(undefined);
  const cursor = useRef(-1);
  const anchor = useRef(-1);
  const brush = useRef<{ from: number; to: number; base: Mask | undefined; draft: Mask | undefined }>(undefined);
  const [size, setSize] = useState({ width: 0, scale: 1 });
  const [hover, setHover] = useState<Hover>();
  const [said, setSaid] = useState("");
  const inks = usePaintVersion();
  const hint = useId();

  const layout = useMemo(() => {
    const { width, scale } = size;
    return fit(Math.max(0, total), { width: Math.floor(width * scale), height: Math.floor(height * scale), least: Math.ceil(least * scale), most: Math.floor(most * scale) });
  }, [total, size, height]);
  const shown = Math.min(layout.rows * layout.pitch, Math.floor(height * size.scale));

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setSize((was) => (was.width === element.clientWidth && was.scale === devicePixelRatio ? was : { width: element.clientWidth, scale: devicePixelRatio }));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const scene = (): Scene | undefined => {
    if (!looks || looks.length !== layout.n || !box.current) return undefined;
    return { layout, looks, order, selected: brush.current?.draft ?? selected, top: Math.round(box.current.scrollTop * size.scale), width: Math.floor(size.width * size.scale), height: shown, scale: size.scale };
  };

  const overlay = (place: number) => {
    const s = scene();
    const context = s && over.current && ready(over.current, s);
    const colors = over.current && getComputedStyle(over.current);
    if (!s || !context || !colors) return;
    context.clearRect(0, 0, s.width, s.height);
    const ring = (at: number, width: number, ink: string) => {
      const x = xOf(layout, at);
      const y = yOf(layout, at) - s.top;
      context.lineWidth = width;
      context.strokeStyle = ink;
      context.strokeRect(x - width / 2, y - width / 2, layout.cell + width, layout.cell + width);
    };
    if (cursor.current >= 0 && document.activeElement === box.current) ring(cursor.current, 2 * size.scale, colors.outlineColor);
    if (place >= 0) ring(place, Math.max(1, Math.round(1.5 * size.scale)), colors.color);
  };

  /** Draws what is not on the canvas yet; where nothing has changed that is nothing. */
  const draw = () => {
    const s = scene();
    if (!s || !cells.current || !marks.current || !frame.current) return;
    painter.current ??= new Painter(cells.current, marks.current);
    const before = drawn.current;
    if (before?.inks !== inks) painter.current.dip(inksOf(frame.current));
    const b = before?.scene;
    const same = before?.inks === inks && b && b.layout === s.layout && b.order === s.order && b.top === s.top && b.width === s.width && b.height === s.height && b.scale === s.scale;
    if (!same) painter.current.draw(s);
    else if (b.looks !== s.looks) {
      const changed = diff(b.looks, s.looks, 20_000);
      if (changed) painter.current.redraw(s, changed);
      else painter.current.draw(s);
    }
    if (!same || b.selected !== s.selected) painter.current.outline(s);
    drawn.current = { scene: s, inks };
  };
  useLayoutEffect(() => draw());

  const indexAt = (place: number): number => order?.at[place] ?? place;
  const point = (event: React.PointerEvent<HTMLElement>): [number, number] => {
    const edge = event.currentTarget.getBoundingClientRect();
    return [(event.clientX - edge.left) * size.scale, (event.clientY - edge.top + event.currentTarget.scrollTop) * size.scale];
  };
  const select = (mask: Mask | undefined) => onSelect(mask && mask.includes(1) ? mask : undefined);

  const follow = (event: React.PointerEvent<HTMLElement>) => {
    const [x, y] = point(event);
    const b = brush.current;
    if (b && looks) {
      const to = nearest(layout, x, y);
      if (to === b.to) return;
      b.to = to;
      b.draft = between(layout.n, b.from, to, order?.at, b.base);
      leave();
      draw();
      overlay(to);
      return;
    }
    const place = placeAt(layout, x, y);
    overlay(place);
    if (place < 0 || !looks) return leave();
    const index = indexAt(place);
    if (hover?.over && hover.index === index && hover.layout === layout && hover.order === order) return;
    // The frame that learns of the move shows the card: left to React it would be the next one.
    flushSync(() => setHover({ over: true, index, layout, order, x: xOf(layout, place) / size.scale, y: yOf(layout, place) / size.scale - event.currentTarget.scrollTop, wide: layout.pitch / size.scale }));
  };

  const leave = () => setHover((was) => (was?.over ? { ...was, over: false } : was));

  const press = (event: React.PointerEvent<HTMLElement>) => {
    const place = placeAt(layout, ...point(event));
    if (event.button !== 0 || place < 0 || !looks) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const add = event.ctrlKey || event.metaKey;
    const from = event.shiftKey && anchor.current >= 0 ? anchor.current : place;
    brush.current = { from, to: place, base: add ? selected : undefined, draft: undefined };
    if (from !== place) brush.current.draft = between(layout.n, from, place, order?.at, add ? selected : undefined);
    anchor.current = from;
    cursor.current = place;
  };

  const release = (event: React.PointerEvent<HTMLElement>) => {
    const b = brush.current;
    brush.current = undefined;
    if (!b || !looks) return;
    if (b.draft) return select(b.draft);
    const index = indexAt(b.to);
    if (event.ctrlKey || event.metaKey) return select(toggled(selected ?? new Uint8Array(layout.n), index));
    // A click on the one shard that is selected lets go of it.
    const only = selected?.[index] === 1 && selected.indexOf(1) === index && selected.indexOf(1, index + 1) < 0;
    select(only && event.detail < 2 ? undefined : between(layout.n, b.to, b.to, order?.at));
  };

  const stop = () => {
    brush.current = undefined;
    draw();
  };

  const key = (event: React.KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || layout.n === 0 || !looks) return;
    const at = Math.max(0, cursor.current);
    if (event.key === "Escape") {
      if (brush.current) stop();
      else if (selected) onSelect(undefined);
      else return;
      event.preventDefault();
      return;
    }
    if (event.key === "Enter") {
      event.preventDefault();
      return onOpen(indexAt(at));
    }
    if (event.key === " ") {
      event.preventDefault();
      return select(toggled(selected ?? new Uint8Array(layout.n), indexAt(at)));
    }
    if (!/^(Arrow|Page|Home|End)/.test(event.key)) return;
    event.preventDefault();
    const to = cursor.current < 0 ? 0 : moved(layout, at, event.key, Math.max(1, Math.floor(shown / layout.pitch) - 1));
    if (event.shiftKey) {
      if (anchor.current < 0) anchor.current = at;
      select(between(layout.n, anchor.current, to, order?.at));
    } else anchor.current = to;
    cursor.current = to;
    reveal(to);
    overlay(-1);
    setSaid(say(indexAt(to)));
  };

  const reveal = (place: number) => {
    const element = box.current;
    if (!element) return;
    const y = yOf(layout, place) / size.scale;
    const rowHeight = layout.pitch / size.scale;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = y + rowHeight - element.clientHeight;
  };

  const rest = Math.max(0, layout.rows * layout.pitch - shown) / size.scale;
  // A shard that has moved to another place is no longer under the pointer.
  const held = hover?.over && hover.layout === layout && hover.order === order ? hover : undefined;
  return (
    <div className={css["frame"]} ref={frame}>
      {/* A grid of 100,000 elements would serve nobody: the map is an application with keys of its own, and the table says the same. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <div
        ref={box}
        className={css["box"]}
        data-heatmap
        aria-busy={!looks}
        style={{ height: shown / size.scale }}
        role="application"
        aria-roledescription="heat map"
        aria-label={summary}
        aria-describedby={hint}
        /* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */
        tabIndex={0}
        onPointerMove={follow}
        onPointerDown={press}
        onPointerUp={release}
        onPointerCancel={stop}
        onPointerLeave={() => (leave(), overlay(-1))}
        onDoubleClick={() => cursor.current >= 0 && onOpen(indexAt(cursor.current))}
        onKeyDown={key}
        onFocus={() => overlay(-1)}
        onBlur={() => overlay(-1)}
        onScroll={() => (leave(), draw(), overlay(-1))}
      >
        <div className={css["window"]} style={{ height: shown / size.scale }}>
          <canvas ref={cells} />
          <canvas ref={marks} />
          <canvas ref={over} style={{ color: "var(--text)", outlineColor: "var(--focus)" }} />
        </div>
        <div style={{ height: rest }} />
      </div>
      <div id={hint} className={css["said"]}>
        Arrow keys move, with Shift they select, Space selects one, Enter opens the task, Escape clears the selection. The tab Shards lists the same as a table.
      </div>
      <div className={css["said"]} aria-live="polite">
        {said}
      </div>
      {hover && (
        <div className={css["card"]} data-shard-card hidden={!held} style={cardPlace(held ?? hover, size.width, shown / size.scale)}>
          {held && card(held.index)}
        </div>
      )}
    </div>
  );
}

/** The shard under the pointer, and where its cell is in the box, in CSS pixels. */
interface Hover {
  /** False once the pointer has left; the card is kept then, out of sight. */
  over: boolean;
  index: number;
  layout: Layout;
  order: Order | undefined;
  x: number;
  y: number;
  wide: number;
}

/** Beside the cell, where there is room: to its right, else to its left; below, in the lower half above. */
function cardPlace(at: { x: number; y: number; wide: number }, width: number, height: number): React.CSSProperties {
  const right = at.x + at.wide + 312 < width;
  const low = at.y > height / 2;
  return { ...(right ? { left: at.x + at.wide + 6 } : { right: Math.max(0, width - at.x + 6) }), ...(low ? { bottom: height - at.y + 2 } : { top: at.y + at.wide + 2 }) };
}
