import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Button } from "../ui/Button";
import { count, plural } from "../ui/format";
import { Icon } from "../ui/Icon";
import { Empty, Failure, Loading } from "../ui/Notice";
import { hits, nextHit } from "./find";
import { levelOf } from "./lines";
import { LogRow } from "./LogRow";
import { LogTools } from "./LogTools";
import css from "./LogView.module.css";
import { tail, useLogs } from "./useLogs";

/** What the address says of a log. */
export interface LogSearch {
  q?: string | undefined;
  level?: string | undefined;
  line?: string | undefined;
}

interface Props {
  run: string;
  stage?: string | undefined;
  shard?: number | undefined;
  attempt?: number | undefined;
  search: LogSearch;
  /** Changes the address. */
  onSearch: (next: LogSearch) => void;
  /** More filters, in front of the others. */
  filters?: React.ReactNode;
  /** What a log without lines means here. */
  empty: React.ReactNode;
}

/**
 * A log of a run, a stage or a task: it follows what comes while its end is in sight, and stays where it is once the reader has scrolled up. Search, level and the line that is
 * pointed at are in the address. Give it a `key` of what it is about.
 */
export function LogView({ run, stage, shard, attempt, search, onSearch, filters, empty }: Props) {
  const level = levelOf(search.level);
  const find = search.q ?? "";
  const [whole, setWhole] = useState(false);
  const { lines, reading, error, retry } = useLogs({ run, stage, shard, attempt, level }, whole);
  const { list } = lines;
  const [wrap, setWrap] = useState(true);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [hit, setHit] = useState<string>();
  const found = useMemo(() => hits(list, find), [list, find]);

  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: list.length, getScrollElement: () => scroll.current, estimateSize: () => 20, getItemKey: (i) => list[i]?.key ?? i, overscan: 20 });

  // Following: at the end, new lines scroll into sight; above it they are counted.
  const [follows, setFollows] = useState(search.line === undefined);
  const [seen, setSeen] = useState(0);
  useLayoutEffect(() => {
    if (follows && list.length > 0) virtual.scrollToIndex(list.length - 1, { align: "end" });
  }, [follows, list.length, virtual, wrap]);
  const onScroll = () => {
    const box = scroll.current;
    if (!box) return;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
    if (atEnd === follows) return;
    setFollows(atEnd);
    if (!atEnd) setSeen(list.length + lines.gone);
  };
  const leave = () => {
    setFollows(false);
    setSeen(list.length + lines.gone);
  };
  const fresh = follows ? 0 : Math.max(0, list.length + lines.gone - seen);

  // The line that the address points at: once, when it has been read. It may be older than the newest lines, then all are read.
  const target = search.line;
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (target === undefined || shown.current === target) return;
    const index = list.findIndex((l) => l.key === target);
    if (index >= 0) {
      shown.current = target;
      virtual.scrollToIndex(index, { align: "center" });
    } else if (!whole && list.length >= tail) setWhole(true);
  }, [target, list, whole, virtual]);

  const toggle = useCallback((key: string) => setOpened((now) => new Set(now.has(key) ? [...now].filter((k) => k !== key) : [...now, key])), []);
  const mark = (key: string) => {
    shown.current = key;
    onSearch({ ...search, line: key === target ? undefined : key });
  };
  const step = (by: 1 | -1) => {
    const now = hit === undefined ? (by === 1 ? -1 : list.length) : list.findIndex((l) => l.key === hit);
    const index = nextHit(found, now, by);
    if (index === undefined) return;
    leave();
    setHit(list[index]?.key);
    virtual.scrollToIndex(index, { align: "center" });
  };
  const hitNumber = hit === undefined ? 0 : found.findIndex((i) => list[i]?.key === hit) + 1;
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.target !== scroll.current || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n") step(1);
    else if (event.key === "N") step(-1);
    else if (event.key === "End") setFollows(true);
    else return;
    event.preventDefault();
  };

  const items = virtual.getVirtualItems();
  return (
    <section className={css["log"]} aria-label="Log">
      <LogTools
        filters={filters}
        list={list}
        name={[run, stage, shard, attempt].filter((x) => x !== undefined).join("-")}
        level={level}
        onLevel={(next) => onSearch({ ...search, level: next === "debug" ? undefined : next })}
        find={find}
        onFind={(q) => {
          setHit(undefined);
          onSearch({ ...search, q: q || undefined });
        }}
        found={found.length}
        hitNumber={hitNumber}
        onStep={step}
        wrap={wrap}
        onWrap={setWrap}
      />
      <div className={css["box"]}>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
        <div
          ref={scroll}
          className={css["scroll"]}
          data-wrap={wrap || undefined}
          onScroll={onScroll}
          onKeyDown={onKeyDown}
          // A box that scrolls must be reachable by the keyboard.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          role="log"
          aria-live="off"
          aria-label="Lines"
        >
          {(lines.gone > 0 || (!whole && list.length >= tail)) && (
            <div className={css["note"]}>
              {lines.gone > 0 ? (
                <>The oldest {plural(lines.gone, "line")} had to go: the page keeps {count(list.length)}. Narrow it down by level, or read it with `ax run logs`.</>
              ) : (
                <>
                  These are the newest lines.{" "}
                  <Button small kind="quiet" onClick={() => setWhole(true)}>
                    Read all from the first
                  </Button>
                </>
              )}
            </div>
          )}
          <div className={css["lines"]} style={{ height: virtual.getTotalSize() }}>
            {items.map((item) => {
              const line = list[item.index];
              if (!line) return null;
              return (
                <div key={item.key} ref={virtual.measureElement} data-index={item.index} className={css["item"]} style={{ transform: `translateY(${item.start}px)` }}>
                  <LogRow line={line} find={find} marked={line.key === hit ? "hit" : line.key === target ? "line" : undefined} open={opened.has(line.key)} tasks={shard === undefined} onToggle={toggle} onMark={mark} />
                </div>
              );
            })}
          </div>
          {list.length === 0 && reading === "reading" && <Loading what="the log" lines={6} />}
          {list.length === 0 && (reading === "following" || reading === "ended") && <Empty title={level === "debug" ? "Nothing was logged" : `Nothing of level ${level} or above was logged`}>{empty}</Empty>}
        </div>
        {!follows && list.length > 0 && (
          <Button small className={css["jump"]} onClick={() => setFollows(true)}>
            <Icon name="down" size={12} /> {fresh > 0 ? `${count(fresh)} new` : "To the end"}
          </Button>
        )}
      </div>
      {reading === "failed" && <Failure what="the log" error={error} retry={retry} />}
      <div className={css["foot"]} role="status">
        {plural(list.length, "line")}
        {reading === "reading" ? ", reading…" : reading === "following" ? (follows ? ", following" : ", scrolled up: not following") : reading === "ended" ? ", the run has ended" : ""}
      </div>
    </section>
  );
}
