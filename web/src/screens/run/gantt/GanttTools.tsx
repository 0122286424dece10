import { Button } from "../../../ui/Button";
import { Segmented } from "../../../ui/Segmented";
import type { Scale } from "./GanttAxis";
import bars from "./GanttBars.module.css";
import css from "./GanttView.module.css";
import type { Order } from "./rows";

interface Props {
  order: Order;
  scale: Scale;
  /** All of the run is in sight. */
  fits: boolean;
  onOrder: (order: Order) => void;
  onScale: (scale: Scale) => void;
  onZoom: (factor: number) => void;
  onFit: () => void;
}

/** What stands above the chart: order, axis, zoom, and what the bars mean. */
export function GanttTools({ order, scale, fits, onOrder, onScale, onZoom, onFit }: Props) {
  return (
    <div className={css["tools"]}>
      <Segmented
        label="Order of stages"
        value={order}
        onChange={onOrder}
        options={[
          { value: "graph", label: "Graph", title: "Upstreams above what waits for them" },
          { value: "start", label: "Ready", title: "What was ready first stands first" },
          { value: "duration", label: "Took", title: "What took longest stands first" },
        ]}
      />
      <Segmented
        label="Time axis"
        value={scale}
        onChange={onScale}
        options={[
          { value: "clock", label: "Clock" },
          { value: "start", label: "Since start" },
        ]}
      />
      <div className={css["zoom"]} role="group" aria-label="Zoom">
        <Button small aria-label="Zoom out" title="Zoom out (−)" disabled={fits} onClick={() => onZoom(1 / 0.6)}>
          −
        </Button>
        <Button small aria-label="Zoom in" title="Zoom in (+)" onClick={() => onZoom(0.6)}>
          +
        </Button>
        <Button small title="Show all of the run (0)" disabled={fits} onClick={onFit}>
          Fit
        </Button>
      </div>
      <div className={css["legend"]} aria-label="What the bars mean" role="note">
        {(["waiting", "queued", "planning", "running", "backoff"] as const).map((phase) => (
          <span key={phase}>
            <i className={css["swatch"]} aria-hidden>
              <i className={bars["bar"]} data-phase={phase} data-state={phase === "running" ? "running" : undefined} />
            </i>
            {phase === "backoff" ? "backing off" : phase}
          </span>
        ))}
        <span>
          <i className={css["swatch"]} aria-hidden>
            <i className={bars["critical"]} />
          </i>
          critical
        </span>
        <span>
          <i className={css["swatch"]} aria-hidden>
            <i className={bars["usual"]} />
          </i>
          usual
        </span>
      </div>
      <span className={css["keys"]} id="gantt-keys">
        Up and Down select, Enter opens, Left and Right move, plus and minus zoom, 0 shows all.
      </span>
    </div>
  );
}
