import { duration } from "../ui/format";
import { useNow } from "../ui/now";
import { timesText, usualBar, type Usual } from "./usual";
import css from "./UsualMeter.module.css";

/** How long a run has taken, beside a bar with ticks at what half and what nearly all runs of its flow take. It counts on while there is no end. */
export function UsualMeter({ from, to, usual }: { from: string; to: string | undefined; usual: Usual | undefined }) {
  const now = useNow(to === undefined);
  const elapsed = Math.max(0, ((to === undefined ? now : Date.parse(to)) - Date.parse(from)) / 1000);
  const bar = usualBar(elapsed, usual);
  const says = usual && bar ? `${duration(elapsed)}; usual are ${duration(usual.p50)} (p50) to ${duration(usual.p95)} (p95)` : `${duration(elapsed)}; nothing is usual yet`;
  return (
    <span className={css["meter"]} title={bar?.times === undefined ? says : `${timesText(bar.times)}: ${says}`}>
      <span className={css["time"]} data-band={bar?.band}>
        {duration(elapsed)}
      </span>
      <span className={css["bar"]} data-empty={bar ? undefined : true} aria-hidden>
        {bar && (
          <>
            <span className={css["length"]} data-band={bar.band} style={{ width: `${bar.length * 100}%` }} />
            <span className={css["tick"]} style={{ left: `${bar.p50 * 100}%` }} />
            <span className={css["tick"]} style={{ left: `${bar.p95 * 100}%` }} />
          </>
        )}
      </span>
      {bar?.times !== undefined && <span className={css["times"]}>{timesText(bar.times).replace(" usual", "")}</span>}
    </span>
  );
}
