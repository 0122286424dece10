import { useVirtualizer, defaultRangeExtractor, observeElementRect } from "@tanstack/react-virtual";
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import { Checkbox } from "./Checkbox";
import { HeadCell, TableRow, type Column } from "./DataTableRow";
import css from "./DataTable.module.css";
import { indexOf, select, step } from "./tableKeys";

export type { Column } from "./DataTableRow";

/** What a table shows and does. */
export interface DataTableProps<R> {
  /** The table's name for screen readers. */
  label: string;
  rows: readonly R[];
  /** Keep it the same from one drawing to the next (`useMemo`, or outside of the component): rows are drawn again when it changes. */
  columns: readonly Column<R>[];
  rowKey: (row: R) => string;
  /** Enter, or a click on a row. */
  onOpen?: (row: R) => void;
  /** The focus has come to another row. */
  onActive?: (row: R) => void;
  /** The keys of the selected rows; with `onSelect` every row has a checkbox. */
  selected?: ReadonlySet<string>;
  onSelect?: (keys: ReadonlySet<string>) => void;
  /** The key of the row that the page shows elsewhere, such as in a drawer. */
  current?: string | undefined;
  /** Called near the end of the rows; undefined while there are no more, or while they are being read. */
  more?: (() => void) | undefined;
  /** Rows are being read: grey lines stand in their place, or a note below those that are there. */
  loading?: boolean;
  /** What stands there without rows. */
  empty?: React.ReactNode;
  /** As high as the room that its parent (a flex column) has; else as its rows, up to `maxRows`. */
  fill?: boolean;
  maxRows?: number;
  /** In px, the same for all rows. */
  rowHeight?: number;
}

const none: ReadonlySet<string> = new Set();

/** In px. */
const headHeight = 32;

/**
 * A table of any number of rows, of which only those in sight are in the document. Arrow keys, Page Up and Down, Home and End move; Enter
 * opens; Space selects, with Shift a range; Ctrl-A selects all. Rows that come above leave what is being read where it is.
 */
export function DataTable<R>({ label, rows, columns, rowKey, onOpen, onActive, selected = none, onSelect, current, more, loading = false, empty, fill = false, maxRows = 20, rowHeight = 32 }: DataTableProps<R>) {
  const scroll = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<{ key: string; index: number }>();
  const takeFocus = useRef(false);
  const anchor = useRef<string>(undefined);

  const activeIndex = indexOf(rows, rowKey, active?.key, active?.index ?? 0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollPaddingStart: headHeight,
    // Where nothing is laid out (a hidden screen, a test) some rows are drawn all the same.
    observeElementRect: (instance, report) => observeElementRect(instance, (rect) => report(rect.height > 0 ? rect : { width: 800, height: 800 })),
    rangeExtractor: (range) => {
      const seen = defaultRangeExtractor(range);
      // The row that has the focus stays, or the focus would be lost when it is scrolled out of sight.
      return activeIndex < 0 || seen.includes(activeIndex) ? seen : activeIndex < (seen[0] ?? 0) ? [activeIndex, ...seen] : [...seen, activeIndex];
    },
  });
  const items = virtual.getVirtualItems();
  const last = virtual.range?.endIndex ?? 0;
  const tabbable = activeIndex >= 0 ? activeIndex : (virtual.range?.startIndex ?? 0);

  const askMore = useEffectEvent(() => more?.());
  const nearEnd = last >= rows.length - 12;
  const hasMore = more !== undefined;
  useEffect(() => {
    if (nearEnd && hasMore) askMore();
  }, [nearEnd, hasMore, rows.length]);

  useKeepPlace(scroll, rows, rowKey, rowHeight);

  useLayoutEffect(() => {
    if (!takeFocus.current) return;
    takeFocus.current = false;
    scroll.current?.querySelector<HTMLElement>(`[data-index="${activeIndex}"]`)?.focus({ preventScroll: true });
  }, [activeIndex]);

  const go = (index: number) => {
    const row = rows[index];
    if (row === undefined) return;
    takeFocus.current = true;
    setActive({ key: rowKey(row), index });
    virtual.scrollToIndex(index);
    onActive?.(row);
  };
  const choose = (index: number, range: boolean) => {
    const row = rows[index];
    if (!onSelect || row === undefined) return;
    onSelect(select(rows, rowKey, selected, index, range ? indexOf(rows, rowKey, anchor.current, index) : -1));
    if (!range) anchor.current = rowKey(row);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.target instanceof Element && event.target.getAttribute("role") !== "row") return;
    const index = tabbable;
    const row = rows[index];
    if (row === undefined) return;
    const command = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && onOpen) onOpen(row);
    else if (event.key === " " && onSelect) choose(index, event.shiftKey);
    else if (event.key === "a" && command && onSelect) onSelect(new Set(rows.map(rowKey)));
    else if (event.key === "Escape" && selected.size > 0 && onSelect) onSelect(none);
    else {
      const to = command || event.altKey ? undefined : step(event.key, index, rows.length, Math.floor(((scroll.current?.clientHeight ?? 0) - headHeight) / rowHeight));
      if (to === undefined) return;
      if (event.shiftKey && onSelect && to !== index) {
        if (!selected.has(rowKey(row))) choose(index, false);
        anchor.current ??= rowKey(row);
        onSelect(select(rows, rowKey, new Set(selected).add(anchor.current), to, indexOf(rows, rowKey, anchor.current, index)));
      }
      go(to);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const onClick = (event: React.MouseEvent) => {
    if (!(event.target instanceof Element)) return;
    const index = Number(event.target.closest("[data-index]")?.getAttribute("data-index") ?? -1);
    const row = rows[index];
    if (row === undefined) return;
    const box = event.target.closest("[data-choose]");
    if (box || ((event.ctrlKey || event.metaKey) && onSelect)) return choose(index, event.shiftKey);
    if (event.target.closest("a, button, input, label, [role=menuitem]") || !window.getSelection()?.isCollapsed) return;
    onOpen?.(row);
  };
  const onFocus = (event: React.FocusEvent) => {
    const index = Number(event.target.closest("[data-index]")?.getAttribute("data-index") ?? -1);
    const row = rows[index];
    if (row !== undefined && (index !== activeIndex || active === undefined)) setActive({ key: rowKey(row), index });
  };

  const template = [...(onSelect ? ["34px"] : []), ...columns.map((c) => (typeof c.width === "number" ? `${c.width}px` : `minmax(${c.min ?? 80}px, ${c.width ?? "1fr"})`))].join(" ");
  const minWidth = columns.reduce((sum, c) => sum + (typeof c.width === "number" ? c.width : (c.min ?? 80)), onSelect ? 34 : 0);
  const all = rows.length > 0 && rows.every((r) => selected.has(rowKey(r)));
  const waiting = loading && rows.length === 0;
  return (
    <div className={css["frame"]} data-fill={fill || undefined}>
      <div
        ref={scroll}
        className={css["table"]}
        role="grid"
        tabIndex={-1}
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length + (onSelect ? 1 : 0)}
        aria-multiselectable={onSelect ? true : undefined}
        aria-busy={loading || undefined}
        style={fill ? undefined : { maxHeight: headHeight + maxRows * rowHeight }}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onFocus={onFocus}
      >
        <div role="rowgroup" className={css["head"]} style={{ minWidth }}>
          <div role="row" aria-rowindex={1} className={css["headRow"]} style={{ gridTemplateColumns: template, height: headHeight }}>
            {onSelect && (
              <div role="columnheader" className={css["choose"]}>
                <Checkbox bare label="Select all rows" checked={all} some={!all && selected.size > 0} disabled={rows.length === 0} onChange={(on) => onSelect(on ? new Set(rows.map(rowKey)) : none)} />
              </div>
            )}
            {columns.map((c) => (
              <HeadCell key={c.id} column={c} />
            ))}
          </div>
        </div>
        {rows.length > 0 && (
          <div role="rowgroup" className={css["body"]} style={{ height: virtual.getTotalSize(), minWidth }}>
            {items.map((item) => {
              const row = rows[item.index];
              if (row === undefined) return null;
              const key = rowKey(row);
              return (
                <TableRow
                  key={key}
                  row={row}
                  columns={columns}
                  index={item.index}
                  top={item.start}
                  height={rowHeight}
                  template={template}
                  tabbable={item.index === tabbable}
                  selected={onSelect ? selected.has(key) : undefined}
                  current={current === key}
                  opens={onOpen !== undefined}
                />
              );
            })}
          </div>
        )}
      </div>
      {waiting && (
        <output className={css["waiting"]} aria-label={`Reading ${label}`}>
          {[72, 58, 66, 49, 61].map((width) => (
            <span key={width} style={{ height: rowHeight }}>
              <span style={{ width: `${width}%` }} />
            </span>
          ))}
        </output>
      )}
      {!loading && rows.length === 0 && empty}
      {loading && rows.length > 0 && <output className={css["note"]}>Reading more…</output>}
    </div>
  );
}

/** Keeps the rows in sight where they are when others come or go above them. At the very top new rows are let in. */
function useKeepPlace<R>(scroll: React.RefObject<HTMLDivElement | null>, rows: readonly R[], rowKey: (row: R) => string, height: number): void {
  const before = useRef<{ rows: readonly R[]; key: string; index: number }>(undefined);
  useLayoutEffect(() => {
    const box = scroll.current;
    if (!box) return;
    const known = before.current;
    if (known && known.rows !== rows && box.scrollTop > 0) {
      const index = indexOf(rows, rowKey, known.key, known.index);
      if (index >= 0 && index !== known.index) box.scrollBy({ top: (index - known.index) * height });
    }
    const remember = () => {
      const index = Math.min(rows.length - 1, Math.floor(box.scrollTop / height));
      const row = rows[index];
      before.current = row === undefined ? undefined : { rows, key: rowKey(row), index };
    };
    remember();
    box.addEventListener("scroll", remember, { passive: true });
    return () => box.removeEventListener("scroll", remember);
  }, [scroll, rows, rowKey, height]);
}
