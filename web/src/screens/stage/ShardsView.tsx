import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { DurationsPanel } from "./DurationsPanel";
import { coloringOf, orderOf } from "./filter";
import { maskOfStates } from "./heat/selection";
import { MapPanel } from "./MapPanel";
import { route } from "./route";
import { SelectionBar } from "./SelectionBar";
import { StageTabs } from "./StageTabs";
import css from "./StageScreen.module.css";
import { usePacked, type PackedField } from "./usePacked";
import { useSelection } from "./useSelection";
import type { StageReads } from "./useStageReads";

/** From so many shards on the map takes the whole width, and the durations stand below it. */
const many = 12_000;

/** The map of a stage's shards, their durations beside it, and the lists below. */
export function ShardsView({ detail, status, declared, reads }: { detail: Schemas["RunDetail"]; status: Schemas["StageStatus"]; declared: Schemas["GraphStage"] | undefined; reads: StageReads }) {
  const search = route.useSearch();
  const run = detail.run.id;
  const wide = status.total >= many;
  const [color, order] = [coloringOf(search), orderOf(search)];
  // Only what is shown is asked for: each array of 100,000 shards is some 100 kB.
  const fields = useMemo(() => {
    const out: PackedField[] = ["durations"];
    if (color === "attempt" || search.attempt) out.push("attempts");
    if (color === "worker" || search.worker) out.push("workers");
    if (order === "start") out.push("started");
    return out.sort();
  }, [color, order, search.attempt, search.worker]);
  const { packed, timed, error, retry } = usePacked(run, status, fields);
  const selection = useSelection(status.total);
  const dead = useMemo(() => packed && maskOfStates(packed, ["dead", "expired"]), [packed]);
  return (
    <>
      <div className={css["side"]} data-wide={wide || undefined}>
        <MapPanel run={run} status={status} packed={packed} error={error} retry={retry} search={search} selection={selection} ages={reads.ages} height={wide ? 780 : 440} />
        <DurationsPanel run={run} status={status} packed={timed} ages={reads.ages} selection={selection} wide={wide} />
      </div>
      <StageTabs detail={detail} status={status} declared={declared} failures={reads.failures} selection={selection} dead={dead} />
      {packed && <SelectionBar run={detail.run} status={status} packed={packed} selection={selection} />}
    </>
  );
}
