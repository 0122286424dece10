import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { usePoll } from "../../../api/live/useLive";
import { timelineQuery, usualQuery } from "../../../api/queries";
import { useNow } from "../../../ui/now";
import { runParts } from "../runparts";
import type { ViewProps } from "../view";
import { CriticalLinks } from "./CriticalLinks";
import { GanttAxis, type Scale } from "./GanttAxis";
import { GanttCard } from "./GanttCard";
import { GanttFoot } from "./GanttFoot";
import { GanttRow } from "./GanttRow";
import { GanttTools } from "./GanttTools";
import css from "./GanttView.module.css";
import { rows as makeRows, sorted, type Order, type Row } from "./rows";
import { useChartPointer } from "./useChartPointer";
import { useSpan } from "./useSpan";
import { pan, within, zoom, type Span } from "./zoom";

const route = getRouteApi("/runs/$run");
const rowHeight = 28;

/** When each stage of a run waited, was queued, ran and backed off; what was critical, and how much slack the others had. */
export default function GanttView({ detail, flow, selected, onSelect }: ViewProps) {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run" });
  const order: Order = search.order === "start" || search.order === "duration" ? search.order : "graph";
  const scale: Scale = search.axis === "start" ? "start" : "clock";
  const start = Date.parse(detail.run.created_at);
  const over = detail.run.finished_at === undefined ? undefined : Date.parse(detail.run.finished_at);

  const tick = useNow(over === undefined);
  const now = over ?? tick;
  const poll = usePoll(5_000, 5_000);
  const timeline = useQuery({ ...timelineQuery(detail.run.id), refetchInterval: over === undefined ? poll : false }).data;
  const usual = useQuery(usualQuery(detail.run.id)).data;

  const rows = useMemo(() => {
    const list = makeRows({ detail, timeline, usual, parts: runParts({ detail, flow, usual }, now), now });
    return sorted(list, order, now);
  }, [detail, flow, timeline, usual, now, order]);

  const bounds = useMemo(() => wholeSpan(rows, start, now), [rows, start, now]);
  const [kept, setSpan] = useSpan(start);
  const span = useMemo(() => (kept ? within(kept, bounds) : bounds), [kept, bounds]);

  const scroll = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const plot = useRef<HTMLDivElement>(null);
  const width = useWidth(plot);
  const pointer = useChartPointer(body, plot, span, bounds, setSpan);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => scroll.current, estimateSize: () => rowHeight, overscan: 6, scrollPaddingStart: 30 });

  const index = rows.findIndex((r) => r.name === selected);
  useEffect(() => {
    if (index >= 0) virtual.scrollToIndex(index);
  }, [index, virtual]);

  const open = (stage: string) => void navigate({ to: "/runs/$run/stages/$stage", params: { run: detail.run.id, stage } });
  const select = (to: number) => onSelect(rows[Math.min(Math.max(to, 0), rows.length - 1)]?.name);
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = (span.from + span.to) / 2;
    const page = Math.max(1, Math.floor((scroll.current?.clientHeight ?? 0) / rowHeight) - 2);
    const keys: Record<string, () => void> = {
      ArrowDown: () => select(index + 1),
      ArrowUp: () => select(index < 0 ? rows.length - 1 : index - 1),
      PageDown: () => select(index + page),
      PageUp: () => select(index - page),
      Home: () => select(0),
      End: () => select(rows.length - 1),
      Escape: () => onSelect(undefined),
      Enter: () => selected !== undefined && open(selected),
      ArrowLeft: () => setSpan(pan(span, -(span.to - span.from) / 8, bounds)),
      ArrowRight: () => setSpan(pan(span, (span.to - span.from) / 8, bounds)),
      "+": () => setSpan(zoom(span, middle, 0.6, bounds)),
      "=": () => setSpan(zoom(span, middle, 0.6, bounds)),
      "-": () => setSpan(zoom(span, middle, 1 / 0.6, bounds)),
      "0": () => setSpan(undefined),
      f: () => setSpan(undefined),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  const items = virtual.getVirtualItems();
  const rowOf = (event: React.MouseEvent): Row | undefined => (event.target instanceof Element ? rows[Number(event.target.closest("[data-index]")?.getAttribute("data-index") ?? -1)] : undefined);
  const hovered = pointer.hover && rows[Math.floor(pointer.hover.y / rowHeight)];
  const share = (at: number) => `${((at - span.from) / (span.to - span.from)) * 100}%`;
  const scrolled = scroll.current?.scrollTop ?? 0;
  const room = scroll.current?.clientHeight ?? 0;
  return (
    <div className={css["gantt"]}>
      <GanttTools
        order={order}
        scale={scale}
        fits={kept === undefined}
        onOrder={(next) => void navigate({ to: ".", search: (s) => ({ ...s, order: next === "graph" ? undefined : next }), replace: true })}
        onScale={(next) => void navigate({ to: ".", search: (s) => ({ ...s, axis: next === "clock" ? undefined : next }), replace: true })}
        onZoom={(factor) => setSpan(zoom(span, (span.from + span.to) / 2, factor, bounds))}
        onFit={() => setSpan(undefined)}
      />
      <div ref={scroll} className={css["scroll"]}>
        <div className={css["head"]} aria-hidden>
          <span>Stage</span>
          <span className={css["axis"]}>
            <GanttAxis span={span} width={width} scale={scale} start={start} />
          </span>
          <span>Critical path</span>
        </div>
        <div
          ref={body}
          className={css["body"]}
          role="listbox"
          aria-label="Stages along the time"
          aria-activedescendant={items.some((item) => item.index === index) ? `gantt-${index}` : undefined}
          aria-describedby="gantt-keys"
          tabIndex={0}
          data-dragging={pointer.dragging || undefined}
          style={{ height: virtual.getTotalSize() }}
          onKeyDown={onKeyDown}
          onClick={(event) => {
            const row = rowOf(event);
            if (row && !pointer.dragged()) onSelect(row.name === selected ? undefined : row.name);
          }}
          onDoubleClick={(event) => {
            const row = rowOf(event);
            if (row) open(row.name);
          }}
          {...pointer.handlers}
        >
          {items.map((item) => {
            const row = rows[item.index];
            return row && <GanttRow key={row.name} row={row} index={item.index} top={item.start} span={span} now={now} selected={row.name === selected} />;
          })}
          <div ref={plot} className={css["plot"]} aria-hidden>
            <CriticalLinks rows={rows} span={span} rowHeight={rowHeight} />
            {over === undefined && now >= span.from && now <= span.to && <span className={css["now"]} style={{ left: share(now) }} />}
            {pointer.hover && <span className={css["cross"]} style={{ left: share(pointer.hover.at) }} />}
          </div>
          {pointer.hover && hovered && (
            <GanttCard
              row={hovered}
              at={pointer.hover.at}
              x={Math.min(pointer.hover.x + 14, (body.current?.clientWidth ?? 0) - 416)}
              y={pointer.hover.y + (pointer.hover.y - scrolled < room / 2 ? 18 : -12)}
              below={pointer.hover.y - scrolled < room / 2}
              now={now}
            />
          )}
        </div>
      </div>
      <GanttFoot row={rows[index]} run={detail.run.id} now={now} />
    </div>
  );
}

/** Everything that is drawn, with a little room at the end. */
function wholeSpan(rows: readonly Row[], start: number, now: number): Span {
  let to = now;
  for (const r of rows) {
    for (const b of r.bars) to = Math.max(to, b.to);
    if (r.end === undefined && r.ready !== undefined && r.usual !== undefined) to = Math.max(to, r.ready + r.usual);
  }
  return { from: start, to: Math.max(to + (to - start) * 0.015, start + 100) };
}

function useWidth(ref: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(800);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}
