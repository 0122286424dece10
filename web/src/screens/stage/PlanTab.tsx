import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { duration, count, plural } from "../../ui/format";
import { KeyValues } from "../../ui/KeyValues";
import { Loading } from "../../ui/Notice";
import { StateMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import css from "./PlanTab.module.css";
import { ruleWords } from "./rule";

/** How the stage came to its shards, why it ran, and what it was declared with. */
export function PlanTab({ detail, status, declared }: { detail: Schemas["RunDetail"]; status: Schemas["StageStatus"]; declared: Schemas["GraphStage"] | undefined }) {
  return (
    <div className={css["body"]}>
      {status.kind === "sharded" && <Plan run={detail.run.id} status={status} aligned={declared?.aligned_to} />}
      <Upstreams detail={detail} status={status} declared={declared} />
      {declared && <Declared stage={declared} />}
    </div>
  );
}

function Plan({ run, status, aligned }: { run: string; status: Schemas["StageStatus"]; aligned: string | undefined }) {
  const plan = useQuery({
    queryKey: keys.shard(run, status.name, -1),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/stages/{stage}/shards/{index}", { params: { path: { run, stage: status.name, index: -1 } }, signal })),
    enabled: aligned === undefined,
    retry: false,
  });
  const attempts = plan.data?.attempts.filter((a) => a.generation === status.generation) ?? [];
  return (
    <section className={css["part"]} aria-label="Plan">
      <h3>Plan</h3>
      {aligned ? (
        <p>
          It takes the plan of{" "}
          <Link to="/runs/$run/stages/$stage" params={{ run, stage: aligned }}>
            {aligned}
          </Link>{" "}
          and follows it shard by shard{status.total >= 0 && `: ${plural(status.total, "shard")}`}.
        </p>
      ) : (
        <>
          <p>{status.total < 0 ? "The plan has not returned yet: how many shards there are is not known." : status.total === 0 ? "The plan returned no shards, so there was nothing to do." : `The plan returned ${plural(status.total, "shard")}.`}</p>
          {plan.isPending ? (
            <Loading what="the plan" lines={2} />
          ) : attempts.length === 0 ? (
            <p className={css["muted"]}>The plan has not run{status.generation > 1 ? " in this generation" : ""}.</p>
          ) : (
            <ol className={css["list"]}>
              {attempts.map((a) => (
                <li key={`${a.attempt}/${a.delivery}`}>
                  <StateMark state={a.outcome} /> attempt {a.attempt}, <Time at={a.started_at} />, took {duration((Date.parse(a.finished_at) - Date.parse(a.started_at)) / 1000)}
                  {a.failure && <span className={css["muted"]}>{a.failure.message}</span>}
                </li>
              ))}
            </ol>
          )}
          <Link to="/runs/$run/stages/$stage/shards/$shard" params={{ run, stage: status.name, shard: "-1" }}>
            Open the plan’s task and its log
          </Link>
        </>
      )}
    </section>
  );
}

/** The trigger rule in words, and how the stages before it are. */
export function Upstreams({ detail, status, declared }: { detail: Schemas["RunDetail"]; status: Schemas["StageStatus"]; declared: Schemas["GraphStage"] | undefined }) {
  const states = new Map(detail.stages.map((s) => [s.name, s]));
  return (
    <section className={css["part"]} aria-label="Trigger rule">
      <h3>Trigger rule</h3>
      {!declared ? (
        <Loading what="the flow" lines={2} />
      ) : declared.upstreams.length === 0 ? (
        <p>It has no upstream stages: it runs as soon as the run starts{declared.conditional ? ", if its condition holds" : ""}.</p>
      ) : (
        <>
          <p>
            <code>{declared.rule}</code>: it runs {ruleWords(declared.rule)}
            {declared.conditional && ", and its condition holds"}.
          </p>
          <ul className={css["list"]}>
            {declared.upstreams.map((name) => {
              const up = states.get(name);
              return (
                <li key={name}>
                  {up && <StateMark state={up.state} />}
                  <Link to="/runs/$run/stages/$stage" params={{ run: detail.run.id, stage: name }}>
                    {name}
                  </Link>
                  {up && up.kind === "sharded" && up.total >= 0 && (
                    <span className={css["muted"]}>
                      {count(up.succeeded)} of {count(up.total)}
                    </span>
                  )}
                </li>
              );
            })}
          </ul>
        </>
      )}
      {status.reason && <p className={css["muted"]}>Decided: {status.reason}.</p>}
    </section>
  );
}

function Declared({ stage: s }: { stage: Schemas["GraphStage"] }) {
  const items: [name: string, value: React.ReactNode][] = [
    ["Queue", s.queue ?? "of the run"],
    ["Level", s.level ?? "of the run"],
    ["Attempts", `${s.retry.max_attempts} at most${s.retry.initial_interval_s === undefined ? "" : `, first retry after ${duration(s.retry.initial_interval_s)}`}`],
    ["Execution time-out", seconds(s.timeout.execution_s)],
    ["Overall time-out", seconds(s.timeout.overall_s)],
    ["Limit", s.limit === undefined ? undefined : `${count(s.limit)} at once`],
    ["Rate", s.rate],
    ["Key", s.key],
    ["Requires", s.requires?.join(", ")],
    ["Downstreams", s.downstreams?.join(", ")],
    ["Sub-flow", s.child],
    ["Teardown of", s.teardown_of],
    ["Fail fast", s.fail_fast ? "yes" : undefined],
  ];
  return (
    <section className={css["part"]} aria-label="Declared">
      <h3>Declared</h3>
      <KeyValues narrow items={items.map(([name, value]) => value !== undefined && { name, value })} />
    </section>
  );
}

const seconds = (n: number | undefined): string | undefined => (n === undefined ? undefined : duration(n));
