import { use, useEffect, useEffectEvent, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { ChartProps, Series } from "./Chart";
import { paints, usePaintVersion } from "./paint";
import css from "./Plot.module.css";
import { ZoneContext, zoneName } from "./zone";

const dashes = { solid: [], dashed: [6, 4], dotted: [2, 3] };

interface PlotProps extends ChartProps {
  height: number;
  /** Is told the index of the step under the cursor. */
  onCursor: (index: number | null) => void;
}

/** The drawing of a `Chart`. It is as wide as its place, and is drawn anew when that, the theme or the zone changes. */
export default function Plot(props: PlotProps) {
  const { zone } = use(ZoneContext);
  // Values come often and look the same; only a change of what is drawn needs a new plot.
  const look = [usePaintVersion(), zone, props.height, props.together, ...props.series.flatMap((s) => [s.name, s.paint, s.stroke])].join(" ");
  return <Drawing key={look} {...props} />;
}

function Drawing({ label, times, series, format, height, together, onCursor }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const { zone } = use(ZoneContext);

  const create = useEffectEvent((element: HTMLDivElement) => {
    const paint = paints(element, ["--text-3", "--line", "--s-succeeded", "--s-running", "--s-failed", "--s-queued", "--s-retrying", "--s-waiting", "--accent"]);
    const clock = new Intl.DateTimeFormat("en-GB", { timeZone: zoneName(zone), hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    const font = `11px ${getComputedStyle(element).fontFamily}`;
    const axis: uPlot.Axis = { stroke: paint["--text-3"], font, grid: { stroke: paint["--line"], width: 1 }, ticks: { show: false }, gap: 6 };
    return new uPlot(
      {
        width: Math.max(element.clientWidth, 100),
        height,
        legend: { show: false },
        padding: [8, 8, 0, 0],
        cursor: {
          y: false,
          drag: { x: false, y: false },
          points: { size: 6 },
          ...(together === undefined ? {} : { sync: { key: together } }),
        },
        tzDate: (seconds) => (zone === "local" ? new Date(seconds * 1000) : uPlot.tzDate(new Date(seconds * 1000), zoneName(zone) ?? "UTC")),
        // The top of the scale stays in place while nothing happens, and the line at 0 is never in the middle.
        scales: { y: { range: (_, __, max) => [0, top(max)] } },
        axes: [
          { ...axis, size: 24, space: 64, grid: { show: false }, values: (_, splits) => splits.map((s) => clock.format(s * 1000)) },
          { ...axis, size: 58, space: 28, values: (_, splits) => splits.map((v) => format(v)) },
        ],
        series: [{}, ...series.map((s) => ({ label: s.name, stroke: paint[`--${s.paint}`], width: 1.5, dash: dashes[s.stroke ?? "solid"], points: { show: false } }))],
        hooks: { setCursor: [(u) => onCursor(u.cursor.idx ?? null)] },
      },
      columns(times, series),
      element,
    );
  });

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = create(element);
    plot.current = made;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.setSize({ width: element.clientWidth, height: made.height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, []);

  useEffect(() => plot.current?.setData(columns(times, series)), [times, series]);

  return <div ref={place} className={css["plot"]} role="img" aria-label={`${label}, as a chart. The button before it shows the values as a table.`} />;
}

// uPlot's types want arrays that it may keep, so it gets its own.
const columns = (times: readonly number[], series: readonly Series[]): uPlot.AlignedData => [[...times], ...series.map((s) => [...s.values])];

/** The end of the scale: a round number that is at least as much as the greatest value. */
function top(max: number | null): number {
  if (max === null || !(max > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(max));
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((n) => n * power >= max) ?? 10) * power;
}
