import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { Button } from "../../ui/Button";
import { duration, plural } from "../../ui/format";
import { Empty } from "../../ui/Notice";
import { Panel } from "../../ui/Page";
import { StateMark } from "../../ui/StateMark";
import { between, maskOfStates } from "./heat/selection";
import type { Packed } from "./heat/packed";
import { Histogram, HistogramKey } from "./Histogram";
import { counted, histogram, quantiles, shardsOf } from "./histogram";
import { skewOf } from "./skew";
import { skewWords } from "./skewWords";
import css from "./DurationsPanel.module.css";
import { factor, stragglersOf } from "./stragglers";
import { useStarted } from "./usePacked";
import type { Selection } from "./useSelection";

/** The quantiles that are marked. */
const marked = [0.5, 0.95, 0.99];

/** With fewer finished shards p95 says nothing about what runs. */
const fewest = 20;

/** How long shards take: a histogram, what holds the stage up, and whether its shards are uneven. */
export function DurationsPanel({ run, status, packed, ages, selection, wide }: { run: string; status: Schemas["StageStatus"]; packed: Packed | undefined; ages: ReadonlyMap<number, number>; selection: Selection; /** It has the whole width. */ wide: boolean }) {
  const seen = useMemo(() => {
    if (!packed?.durations) return undefined;
    const done = maskOfStates(packed, ["succeeded"]);
    const rests = maskOfStates(packed, ["succeeded", "dead", "retrying", "expired", "discarded"]);
    const [p50, p95, p99] = quantiles(counted(packed.durations, done), marked);
    const finished = counted(packed.durations, done).length;
    return { durations: packed.durations, rests, done, finished, marks: Object.entries({ p50, p95, p99 }).flatMap(([label, at]) => (at === undefined ? [] : [{ label, at: Math.max(1, at) }])), p95 };
  }, [packed]);
  const bars = useMemo(() => (seen ? histogram(seen.durations, seen.rests, [...ages.values()], 36) : []), [seen, ages]);
  const slow = useMemo(() => seen && stragglersOf(seen.durations, seen.rests, ages, seen.finished >= fewest ? seen.p95 : undefined), [seen, ages]);
  const uneven = useMemo(() => seen && skewOf(seen.durations, seen.done), [seen]);
  const started = useStarted(run, status, uneven !== undefined);
  const skew = useMemo(() => (seen && uneven && started ? skewOf(seen.durations, seen.done, started) : uneven), [seen, uneven, started]);
  const words = skew && skewWords(skew);
  const pickOne = (index: number) => selection.select(between(status.total, index, index, undefined));
  return (
    <Panel title="Durations" aside={bars.length > 0 && <HistogramKey running={ages.size > 0} />}>
      {!seen || bars.length === 0 ? (
        <Empty title={seen ? "Nothing has finished yet" : "Reading the durations"}>{seen && "Durations are shown as soon as shards finish."}</Empty>
      ) : (
        <div className={css["panel"]} data-wide={wide || undefined}>
          <Histogram
            bars={bars}
            marks={seen.marks}
            onPick={(bar, add) => {
              const mask = shardsOf(bar, seen.durations, seen.rests, ages);
              if (add && selection.mask) for (const [i, v] of selection.mask.entries()) if (v) mask[i] = 1;
              selection.select(mask);
            }}
          />
          {words && skew && (
            <p className={css["skew"]} role="note">
              {words.before}
              <button type="button" onClick={() => pickOne(skew.index)}>
                {words.shard}
              </button>
              {words.after}
            </p>
          )}
          {slow && slow.items.length > 0 && (
            <section aria-label="Stragglers">
              <div className={css["head"]}>
                <h3>{slow.late ? `Running for longer than ${factor} × p95` : "Longest"}</h3>
                <Button
                  kind="quiet"
                  small
                  onClick={() => {
                    const mask = new Uint8Array(status.total);
                    for (const s of slow.items) mask[s.index] = 1;
                    selection.select(mask);
                  }}
                >
                  Select these
                </Button>
              </div>
              <ol className={css["list"]}>
                {slow.items.map((s) => (
                  <li key={s.index}>
                    <StateMark bare state={packed?.names[packed.states[s.index] ?? 0] ?? "waiting"} />
                    <Link to="/runs/$run/stages/$stage/shards/$shard" params={{ run, stage: status.name, shard: String(s.index) }}>
                      Shard {s.index}
                    </Link>
                    <span className={css["times"]}>{seen.p95 ? `${(s.took / seen.p95).toFixed(1)} × p95` : ""}</span>
                    <span>{duration(s.took / 1000)}</span>
                  </li>
                ))}
              </ol>
              {slow.more > 0 && <p className={css["muted"]}>and {plural(slow.more, "more")}</p>}
            </section>
          )}
        </div>
      )}
    </Panel>
  );
}
