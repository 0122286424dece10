import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Schemas } from "../../../api/client";
import { usePoll } from "../../../api/live/useLive";
import { useStageRates } from "../../../api/live/useStageRates";
import { stageQuery } from "../../../api/queries";
import StageGraph from "../../../graph/StageGraph";
import { explainQuery } from "../../../why/query";
import type { ViewProps } from "../view";
import { FactKeeper } from "./factkeeper";

const route = getRouteApi("/runs/$run");

/** Durations are read of so many sharded stages at most, of those that run first: each is a request. */
const most = 24;

/** The run as a graph: one box a stage, live. */
export default function DagView({ detail, flow, selected, onSelect }: ViewProps) {
  const { focus } = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run" });
  const run = detail.run.id;
  const explained = useQuery({ ...explainQuery({ run }), enabled: false }).data;
  const rates = useStageRates(detail);
  const durations = useDurations(detail);
  const [keeper] = useState(() => new FactKeeper());
  const statuses = useMemo(() => new Map(detail.stages.map((s) => [s.name, s])), [detail.stages]);
  const facts = useMemo(() => keeper.keep(detail, explained, rates, durations), [keeper, detail, explained, rates, durations]);
  return (
    <StageGraph
      label={`Graph of the run’s ${flow.graph.stages.length} stages`}
      stages={flow.graph.stages}
      layoutKey={`${flow.name}@${flow.version}`}
      statuses={statuses}
      facts={facts}
      selected={selected}
      onSelect={onSelect}
      focus={focus}
      onFocus={(stage) => void navigate({ to: ".", search: (s) => ({ ...s, focus: stage }), replace: true })}
    />
  );
}

/** p50 and p95 of the sharded stages that have begun. */
function useDurations(detail: Schemas["RunDetail"]): ReadonlyMap<string, Schemas["Durations"]> {
  const poll = usePoll(15_000, 15_000);
  const run = detail.run.id;
  const begun = detail.stages.filter((s) => s.kind === "sharded" && s.succeeded > 0);
  const asked = [...begun.filter((s) => s.state === "running"), ...begun.filter((s) => s.state !== "running")].slice(0, most);
  return useQueries({
    queries: asked.map((s) => ({ ...stageQuery(run, s.name), refetchInterval: s.state === "running" ? poll : (false as const) })),
    combine: collect,
  });
}

// It stands here so that it is the same function each time: the result is then kept while the answers are the same.
const collect = (answers: { data: Schemas["StageDetail"] | undefined }[]): ReadonlyMap<string, Schemas["Durations"]> =>
  new Map(answers.flatMap(({ data }) => (data?.durations ? [[data.status.name, data.durations] as const] : [])));
