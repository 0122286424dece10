import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { use } from "react";
import { useLiveRun } from "../../api/live/useLive";
import { runQuery } from "../../api/queries";
import type { Schemas } from "../../api/client";
import { shortId } from "../../ui/format";
import { Empty, Failure, Loading } from "../../ui/Notice";
import { useNow } from "../../ui/now";
import { Page } from "../../ui/Page";
import { Select } from "../../ui/Select";
import { brief, ZoneContext } from "../../ui/zone";
import { Comparison } from "./Comparison";
import { othersQuery, previousQuery } from "./reads";

const route = getRouteApi("/runs/$run/compare");

/** A run beside another one: the previous that succeeded, or any that is chosen. */
export default function CompareScreen(): React.ReactNode {
  const { run } = route.useParams();
  const { with: wanted } = route.useSearch();
  const navigate = route.useNavigate();
  const detail = useQuery(runQuery(run));
  useLiveRun(run);
  const previous = useQuery({ ...previousQuery(run), enabled: wanted === undefined });
  const flow = detail.data?.run.flow;
  const others = useQuery({ ...othersQuery(flow ?? ""), enabled: flow !== undefined });
  const other = wanted ?? previous.data?.id;
  const against = useQuery({ ...runQuery(other ?? ""), enabled: other !== undefined });
  const { zone } = use(ZoneContext);
  const now = useNow();

  const name = flow === undefined ? "Compare" : `Compare ${flow} ${shortId(run)}`;
  const label = (r: Schemas["Run"]) => `${brief(new Date(r.created_at), new Date(now), zone)} ${r.state} ${shortId(r.id)}`;
  const options = (others.data ?? []).filter((r) => r.id !== run).map((r) => ({ value: r.id, label: label(r) }));
  if (other !== undefined && !options.some((o) => o.value === other)) options.unshift({ value: other, label: against.data ? label(against.data.run) : shortId(other) });
  return (
    <Page
      name={name}
      title={
        flow === undefined ? (
          "Compare"
        ) : (
          <>
            Compare{" "}
            <Link to="/runs/$run" params={{ run }}>
              {flow} {shortId(run)}
            </Link>
          </>
        )
      }
      actions={
        <>
          <span>with</span>
          <Select bare label="The run to compare with" value={other ?? ""} placeholder="Choose a run" onChange={(id) => void navigate({ search: (s) => ({ ...s, with: id }) })} options={options} />
        </>
      }
    >
      {detail.isError ? (
        <Failure what="the run" error={detail.error} retry={() => void detail.refetch()} />
      ) : previous.isError && wanted === undefined ? (
        <Failure what="the previous run" error={previous.error} retry={() => void previous.refetch()} />
      ) : against.isError ? (
        <Failure what="the run to compare with" error={against.error} retry={() => void against.refetch()} />
      ) : detail.data && wanted === undefined && previous.data === null ? (
        <Empty title="No earlier run of this flow has succeeded">{options.length > 0 ? "Choose another run above." : "It is the only one."}</Empty>
      ) : detail.data && against.data ? (
        <Comparison key={`${run} ${other}`} before={against.data} after={detail.data} />
      ) : (
        <Loading what="the runs" lines={8} />
      )}
    </Page>
  );
}
