import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../../api/client";
import { keys } from "../../../api/keys";
import { buttonClass } from "../../../ui/Button";
import { JsonView } from "../../../ui/JsonView";
import { Empty, Failure, Loading } from "../../../ui/Notice";
import { Panel } from "../../../ui/Page";
import { StateMark } from "../../../ui/StateMark";
import { Time } from "../../../ui/Time";
import css from "./ParamsView.module.css";

/** What a run was started with, and what it has returned. */
export default function ParamsView({ detail: { run } }: { detail: Schemas["RunDetail"] }) {
  const params = useQuery({
    queryKey: keys.run(run.id, "params"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/params", { params: { path: { run: run.id } }, signal })),
    staleTime: Infinity,
  });
  const result = useQuery({
    // It is another one once the run has ended, or has been retried since.
    queryKey: keys.run(run.id, "result", run.state, run.finished_at ?? ""),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/result", { params: { path: { run: run.id } }, signal })),
  });
  return (
    <div className={css["both"]}>
      <Panel
        title="Params"
        aside={
          <Link className={buttonClass} data-small to="/flows/$flow/start" params={{ flow: run.flow }} search={{ again: run.id }}>
            Start again with changes
          </Link>
        }
      >
        {params.isSuccess ? <JsonView value={params.data} label="params" /> : params.isError ? <Failure what="the params" error={params.error} retry={() => void params.refetch()} /> : <Loading what="the params" />}
      </Panel>
      <Panel
        title="Result"
        aside={
          result.data?.ended ? (
            <>
              <StateMark state={result.data.state} /> <Time at={result.data.finished_at} />
            </>
          ) : (
            "so far"
          )
        }
      >
        {result.isSuccess ? <Result run={run.id} result={result.data} /> : result.isError ? <Failure what="the result" error={result.error} retry={() => void result.refetch()} /> : <Loading what="the result" />}
      </Panel>
    </div>
  );
}

function Result({ run, result }: { run: string; result: Schemas["RunResult"] }) {
  const outputs = Object.entries(result.outputs);
  if (outputs.length === 0 && result.failures.length === 0) {
    return <Empty title={result.ended ? "It has returned nothing" : "There is no output yet"}>The outputs of the unsharded stages that nothing comes after stand here. Those of other stages are on the stages’ pages.</Empty>;
  }
  return (
    <div className={css["list"]}>
      {outputs.map(([stage, value]) => (
        <section key={stage}>
          <h3>
            <Link to="/runs/$run/stages/$stage" params={{ run, stage }}>
              {stage}
            </Link>
          </h3>
          <JsonView value={value} label={`output of ${stage}`} />
        </section>
      ))}
      {result.failures.length > 0 && (
        <section>
          <h3>Newest failed attempts</h3>
          <ul className={css["failures"]}>
            {result.failures.map((f) => (
              <li key={`${f.stage} ${f.shard} ${f.generation} ${f.attempt} ${f.delivery}`}>
                <Link to="/runs/$run/stages/$stage/shards/$shard" params={{ run, stage: f.stage, shard: String(f.shard) }} search={{ attempt: String(f.attempt) }}>
                  {f.stage} {f.shard}, attempt {f.attempt}
                </Link>{" "}
                <span className={css["error"]}>{f.failure?.message ?? f.outcome.replaceAll("_", " ")}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
