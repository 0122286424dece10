import { lazy, Suspense, use, useId, useState } from "react";
import { Button } from "./Button";
import css from "./Chart.module.css";
import { absolute, brief, ZoneContext } from "./zone";

/** A colour of a series, the token's name without its `--`. */
export type Paint = "s-succeeded" | "s-running" | "s-failed" | "s-queued" | "s-retrying" | "s-waiting" | "accent";

/** A line of a chart. `null` is a gap. */
export interface Series {
  name: string;
  paint: Paint;
  /** `dashed` and `dotted` tell series apart where colours do not. */
  stroke?: "solid" | "dashed" | "dotted";
  values: readonly (number | null)[];
}

/** What every part of a chart gets. */
export interface ChartProps {
  /** What is shown, such as "Runs a second". It is the chart's name for screen readers and the table's caption. */
  label: string;
  /** The time of each value, in seconds since 1970, ascending. */
  times: readonly number[];
  series: readonly Series[];
  /** A value as text with its unit, for the axis, the legend and the table. */
  format: (value: number) => string;
  /** Of the plot, in px. */
  height?: number;
  /** Charts with the same name show the cursor at the same time. */
  together?: string;
}

/** uPlot is a file of its own, which is loaded when the first chart is shown. */
const Plot = lazy(() => import("./Plot"));

/**
 * Lines over time: drawn by uPlot, with a legend in text that has the values under the cursor (the newest ones without a cursor), and the
 * same as a table for those who do not see or point.
 */
export function Chart(props: ChartProps) {
  const { label, times, series, format, height = 150 } = props;
  const { zone } = use(ZoneContext);
  const [at, setAt] = useState<number | null>(null);
  const [table, setTable] = useState(false);
  const id = useId();
  const index = at !== null && at < times.length ? at : newest(series, times.length);
  const time = times[index];
  // What is on the newest one's day is shown without its date.
  const now = new Date((times.at(-1) ?? 0) * 1000);
  return (
    <figure className={css["chart"]} aria-labelledby={id}>
      <figcaption className={css["head"]}>
        <h3 id={id}>{label}</h3>
        <span className={css["when"]}>{time === undefined ? "" : at === null ? "newest" : brief(new Date(time * 1000), now, zone)}</span>
        <Button kind="quiet" small aria-pressed={table} onClick={() => setTable(!table)}>
          {table ? "Show as chart" : "Show as table"}
        </Button>
      </figcaption>
      <div className={css["legend"]}>
        {series.map((s) => (
          <span key={s.name} className={css["entry"]}>
            <span className={css["line"]} data-stroke={s.stroke ?? "solid"} style={{ color: `var(--${s.paint})` }} aria-hidden />
            {s.name} <b>{text(s.values[index], format)}</b>
          </span>
        ))}
      </div>
      {table ? (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
        <div className={css["scroll"]} style={{ height }} tabIndex={0} role="region" aria-label={`${label}, as a table`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {series.map((s) => (
                  <th key={s.name} scope="col">
                    {s.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times
                .map((t, i) => (
                  <tr key={t}>
                    <th scope="row" title={absolute(new Date(t * 1000), zone)}>
                      {brief(new Date(t * 1000), now, zone)}
                    </th>
                    {series.map((s) => (
                      <td key={s.name}>{text(s.values[i], format)}</td>
                    ))}
                  </tr>
                ))
                .reverse()}
            </tbody>
          </table>
        </div>
      ) : (
        <div className={css["plot"]} style={{ height }}>
          <Suspense>
            <Plot {...props} height={height} onCursor={setAt} />
          </Suspense>
        </div>
      )}
    </figure>
  );
}

const text = (value: number | null | undefined, format: (value: number) => string): string => (value === null || value === undefined ? "–" : format(value));

/** The newest step that any series has a value for. */
function newest(series: readonly Series[], length: number): number {
  for (let i = length - 1; i > 0; i--) if (series.some((s) => s.values[i] !== null && s.values[i] !== undefined)) return i;
  return 0;
}
