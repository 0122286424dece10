import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { usePoll } from "../../api/live/useLive";
import { Failure, Loading } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { Segmented } from "../../ui/Segmented";
import { Time } from "../../ui/Time";
import { AttentionList } from "./AttentionList";
import { Backlog } from "./Backlog";
import { Fleet } from "./Fleet";
import { health } from "./health";
import { HealthLine } from "./HealthLine";
import css from "./OverviewScreen.module.css";
import { overviewQuery, windowOf } from "./query";
import { Throughput } from "./Throughput";
import { useEmpty } from "./useEmpty";
import { Welcome } from "./Welcome";

const route = getRouteApi("/");

/** Is it healthy, and is it keeping up? The first line says it, and what stands below is what it rests on. */
export default function OverviewScreen(): React.ReactNode {
  const window = windowOf(route.useSearch().window);
  const navigate = useNavigate({ from: "/" });
  const overview = useQuery({ ...overviewQuery(window), refetchInterval: usePoll(5_000, 5_000), placeholderData: keepPreviousData });
  const data = overview.data;
  const empty = useEmpty(data);
  if (!data && overview.isError) {
    return (
      <Page title="Overview" name="Overview">
        <Failure what="the overview" error={overview.error} retry={() => void overview.refetch()} />
      </Page>
    );
  }
  return (
    <Page title="Overview" name="Overview" aside={data && <span className={css["read"]}>read <Time at={data.at} ago /></span>}>
      <HealthLine health={data && health(data)} stale={overview.isError ? overview.error : undefined} />
      {empty ? (
        <Welcome flows={empty.flows} />
      ) : (
        <div className={css["columns"]}>
          <div className={css["column"]}>
            <Panel
              title="Throughput"
              aside={
                <Segmented
                  label="How far back"
                  value={window}
                  onChange={(next) => void navigate({ search: (s) => ({ ...s, window: next === "1h" ? undefined : next }), replace: true })}
                  options={[
                    { value: "1h", label: "1 hour" },
                    { value: "24h", label: "24 hours" },
                  ]}
                />
              }
            >
              <Throughput overview={data} />
            </Panel>
            <Panel title="Backlog" flush>
              {data ? <Backlog queues={backlogOf(data)} /> : <Loading what="the backlog" lines={4} />}
            </Panel>
          </div>
          <div className={css["column"]}>
            <Panel title="Fleet">{data ? <Fleet leader={data.leader} workers={data.workers} /> : <Loading what="the fleet" lines={5} />}</Panel>
            <Panel title="Needs attention" aside={data && data.attention.length > 0 && <span>{data.attention.length >= 20 ? "the first 20" : data.attention.length}</span>} flush>
              {data ? <AttentionList items={data.attention} /> : <Loading what="what needs attention" lines={4} />}
            </Panel>
          </div>
        </div>
      )}
    </Page>
  );
}

/** The queues that hold something; undefined for who may not see them. A list without any is left out of the answer, and so are the workers for who may not see those. */
const backlogOf = (data: Schemas["Overview"]): readonly Schemas["QueueBacklog"][] | undefined => data.queues ?? (data.workers ? [] : undefined);
