import { use } from "react";
import { count, duration } from "../../../ui/format";
import { StateMark } from "../../../ui/StateMark";
import { absolute, ZoneContext } from "../../../ui/zone";
import css from "./GanttCard.module.css";
import type { Row } from "./rows";
import { barWords, densityAt, partSentences, shardWords, tookWords } from "./words";

/** The exact numbers of a row, and of what lies at the time `at` under the pointer. It stands at `x`, `y` of the chart. */
export function GanttCard({ row, at, x, y, now, below }: { row: Row; at: number; x: number; y: number; now: number; /** There is more room below than above. */ below: boolean }) {
  const { zone } = use(ZoneContext);
  const time = (ms: number) => absolute(new Date(ms), zone);
  const bar = row.bars.findLast((b) => at >= b.from && at <= b.to);
  const density = densityAt(row, at);
  const shards = shardWords(row);
  return (
    <div className={css["card"]} style={{ left: x, top: y }} data-below={below || undefined} aria-hidden>
      <div className={css["head"]}>
        <strong>{row.name}</strong> <StateMark state={row.status.state} />
      </div>
      <div>{tookWords(row, now)}</div>
      {shards && <div>{shards}</div>}
      {partSentences(row).map((s) => (
        <div key={s} className={css["soft"]}>
          {s}
        </div>
      ))}
      <dl className={css["times"]}>
        {row.ready !== undefined && <Line name="Ready" value={time(row.ready)} />}
        {row.started !== undefined && <Line name="Started" value={time(row.started)} more={row.ready === undefined ? "" : `queued ${duration((row.started - row.ready) / 1000)}`} />}
        {row.end !== undefined && <Line name="Ended" value={time(row.end)} />}
      </dl>
      {bar && (
        <dl className={css["times"]} data-lined>
          <Line name="Here" value={barWords(bar)} more={duration((bar.to - bar.from) / 1000)} />
          <Line name="From" value={time(bar.from)} />
          {!bar.open && <Line name="To" value={time(bar.to)} />}
          {density && <Line name="Shards" value={`${count(density.running)} ran${density.failed > 0 ? `, ${count(density.failed)} failed` : ""}`} />}
        </dl>
      )}
      {row.partial && <div className={css["soft"]}>It has too many attempts to draw all: the band is that of the first shards.</div>}
    </div>
  );
}

function Line({ name, value, more }: { name: string; value: string; more?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      {more && <dd className={css["soft"]}>{more}</dd>}
    </div>
  );
}
