import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { count, duration } from "../../ui/format";
import { Failure } from "../../ui/Notice";
import { Panel } from "../../ui/Page";
import { Segmented } from "../../ui/Segmented";
import { wordOf } from "../../ui/states";
import { coloringOf, filterOf, orderOf, orders, toggledIn, type MapSearch } from "./filter";
import { HeatMap } from "./heat/HeatMap";
import { colorings, looksOf, restricts } from "./heat/look";
import { orderBy } from "./heat/order";
import { noTime, type Packed } from "./heat/packed";
import { Legend } from "./Legend";
import { legendOf, paramOf } from "./legend";
import css from "./MapPanel.module.css";
import { route } from "./route";
import { ShardCard } from "./ShardCard";
import type { Selection } from "./useSelection";

/** What the words of the controls are. */
const colorWords = { state: "State", duration: "Duration", attempt: "Attempt", worker: "Worker" } as const;
const orderWords = { index: "Index", start: "Start", duration: "Longest" } as const;

/** The heat map of a stage with its controls and its legend. */
export function MapPanel({
  run,
  status,
  packed,
  error,
  retry,
  search,
  selection,
  ages,
  height,
}: {
  run: string;
  status: Schemas["StageStatus"];
  packed: Packed | undefined;
  error: Error | null;
  retry: () => void;
  search: MapSearch;
  selection: Selection;
  /** How long what runs has run, in ms, by index. */
  ages: ReadonlyMap<number, number>;
  height: number;
}) {
  const navigate = route.useNavigate();
  const set = (params: MapSearch) => void navigate({ search: (s) => ({ ...s, ...params }), replace: true, resetScroll: false });
  const [color, order] = [coloringOf(search), orderOf(search)];
  const { state, worker, attempt, took } = search;
  const filter = useMemo(() => filterOf({ ...(state && { state }), ...(worker && { worker }), ...(attempt && { attempt }), ...(took && { took }) }), [state, worker, attempt, took]);
  const looks = useMemo(() => packed && looksOf(packed, color, filter), [packed, color, filter]);
  const states = useMemo(() => (packed ? legendOf(packed, "state") : []), [packed]);
  const entries = useMemo(() => (packed && color !== "state" ? legendOf(packed, color) : states), [packed, color, states]);
  const [durations, started] = [packed?.durations, packed?.started];
  const arranged = useMemo(() => {
    if (order === "duration" && durations) return orderBy(durations, noTime, true);
    if (order === "start" && started) return orderBy(started, noTime, false);
    return undefined;
  }, [order, durations, started]);

  const param = paramOf[color];
  const say = (index: number): string => {
    const name = packed?.names[packed.states[index] ?? 0];
    const ms = packed?.durations?.[index] ?? noTime;
    return `Shard ${index}${name ? `, ${wordOf(name)}` : ""}${ms === noTime ? "" : `, ${duration(ms / 1000)}`}`;
  };
  const card = (index: number): React.ReactNode => packed && <ShardCard run={run} stage={status.name} index={index} packed={packed} age={ages.get(index)} />;
  const summary = `${count(status.total)} shards of ${status.name}: ${states.map((e) => `${count(e.count)} ${e.label}`).join(", ")}`;
  return (
    <Panel
      title="Shards"
      aside={
        <div className={css["tools"]}>
          <span className={css["tool"]}>
            Colour
            <Segmented label="Colour by" value={color} onChange={(next) => set({ color: next === "state" ? undefined : next })} options={colorings.map((value) => ({ value, label: colorWords[value] }))} />
          </span>
          <span className={css["tool"]}>
            Order
            <Segmented label="Order by" value={order} onChange={(next) => set({ order: next === "index" ? undefined : next })} options={orders.map((value) => ({ value, label: orderWords[value] }))} />
          </span>
        </div>
      }
    >
      <div className={css["body"]}>
        <Legend
          entries={entries}
          pressed={(value) => (search[param] ?? "").split(",").includes(value)}
          onToggle={(value) => set({ [param]: param === "state" ? toggledIn(search.state, value) : search[param] === value ? undefined : value })}
          onClear={restricts(filter) ? () => set({ state: undefined, worker: undefined, attempt: undefined, took: undefined }) : undefined}
        />
        {error && !packed ? (
          <Failure what="the shards" error={error} retry={retry} />
        ) : (
          <HeatMap
            total={status.total}
            looks={looks}
            order={arranged}
            selected={selection.mask}
            onSelect={selection.select}
            onOpen={(index) => void navigate({ to: "/runs/$run/stages/$stage/shards/$shard", params: { run, stage: status.name, shard: String(index) } })}
            card={card}
            say={say}
            summary={summary}
            height={height}
          />
        )}
      </div>
    </Panel>
  );
}
