import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { usePoll } from "../../../api/live/useLive";
import { useStageRates } from "../../../api/live/useStageRates";
import { timelineQuery, usualQuery } from "../../../api/queries";
import { DataTable } from "../../../ui/DataTable";
import { count, plural } from "../../../ui/format";
import { Empty } from "../../../ui/Notice";
import { useNow } from "../../../ui/now";
import { SearchField } from "../../../ui/SearchField";
import { StateMark } from "../../../ui/StateMark";
import { wordOf } from "../../../ui/states";
import { Button } from "../../../ui/Button";
import { runParts } from "../runparts";
import type { ViewProps } from "../view";
import { stageColumns } from "./columns";
import css from "./StageTable.module.css";
import { filterRows, nextSort, parseSort, sortRows, stageRows, tally, type StageRow } from "./stagerows";

const route = getRouteApi("/runs/$run");

/** Every stage of a run with its counts, its pace and its times. */
export default function StageTable({ detail, flow, selected, onSelect }: ViewProps): React.ReactNode {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run" });
  const run = detail.run.id;
  const over = detail.run.finished_at === undefined ? undefined : Date.parse(detail.run.finished_at);
  const tick = useNow(over === undefined);
  const now = over ?? tick;
  const poll = usePoll(5_000, 5_000);
  const timeline = useQuery({ ...timelineQuery(run), refetchInterval: over === undefined ? poll : false }).data;
  const usual = useQuery(usualQuery(run)).data;
  const rates = useStageRates(detail);

  const all = useMemo(() => stageRows({ detail, flow, timeline, rates, parts: runParts({ detail, flow, usual }, now), now }), [detail, flow, timeline, rates, usual, now]);
  const find = search.find ?? "";
  const states = useMemo(() => search.states?.split(",").filter(Boolean) ?? [], [search.states]);
  const sortText = search.sort;
  const rows = useMemo(() => sortRows(filterRows(all, find, states), parseSort(sortText)), [all, find, states, sortText]);

  const set = (more: { find?: string | undefined; states?: string | undefined; sort?: string | undefined }) => void navigate({ to: ".", search: (s) => ({ ...s, ...more }), replace: true });
  const columns = useMemo(() => {
    const sort = parseSort(sortText);
    return stageColumns(run, sort, (by) => void navigate({ to: ".", search: (s) => ({ ...s, sort: nextSort(sort, by) }), replace: true }));
  }, [run, sortText, navigate]);
  const toggle = (state: string) => set({ states: (states.includes(state) ? states.filter((s) => s !== state) : [...states, state]).join(",") || undefined });
  const open = (row: StageRow) => (row.name === selected ? void navigate({ to: "/runs/$run/stages/$stage", params: { run, stage: row.name } }) : onSelect(row.name));

  return (
    <div className={css["view"]}>
      <div className={css["tools"]}>
        <SearchField label="Find a stage" value={find} onChange={(text) => set({ find: text || undefined })} width={220} />
        <div className={css["states"]} role="group" aria-label="States">
          {tally(all).map(({ state, count: n }) => (
            <button key={state} type="button" className={css["state"]} aria-pressed={states.includes(state)} aria-label={`${wordOf(state)}: ${n}`} onClick={() => toggle(state)}>
              <StateMark state={state} /> <span className={css["count"]}>{count(n)}</span>
            </button>
          ))}
        </div>
        <span className={css["shown"]} role="status">
          {rows.length === all.length ? plural(all.length, "stage") : `${count(rows.length)} of ${plural(all.length, "stage")}`}
        </span>
      </div>
      <DataTable
        label="Stages"
        rows={rows}
        columns={columns}
        rowKey={keyOf}
        current={selected}
        onActive={(row) => onSelect(row.name)}
        onOpen={open}
        fill
        empty={
          <Empty title="No stage is like that" action={<Button onClick={() => set({ find: undefined, states: undefined })}>Show all stages</Button>}>
            The filters leave none of the run’s {plural(all.length, "stage")}.
          </Empty>
        }
      />
    </div>
  );
}

const keyOf = (row: StageRow): string => row.name;
