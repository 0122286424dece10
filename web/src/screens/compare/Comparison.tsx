import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { flowQuery, runParamsQuery, stageQuery, timelineQuery } from "../../api/queries";
import { duration, shortId } from "../../ui/format";
import { diff } from "../../ui/jsondiff";
import { Failure, Loading } from "../../ui/Notice";
import { Panel } from "../../ui/Page";
import { StateMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import { pairs, tookOf } from "./compare";
import css from "./Comparison.module.css";
import { StagePairs } from "./StagePairs";
import { sentence, summary, type Pace } from "./words";

/** So many stages, those that differ most, are looked into: what their attempts took is read for each. */
const looked = 6;

/** Two runs side by side; `before` is what `after` is measured against. */
export function Comparison({ before, after }: { before: Schemas["RunDetail"]; after: Schemas["RunDetail"] }) {
  const [a, b] = [before.run, after.run];
  const flowA = useQuery(flowQuery(a.flow, a.version)).data;
  const flowB = useQuery(flowQuery(b.flow, b.version)).data;
  const timeA = useQuery(timelineQuery(a.id)).data;
  const timeB = useQuery(timelineQuery(b.id)).data;
  const list = useMemo(() => pairs({ detail: before, flow: flowA, timeline: timeA }, { detail: after, flow: flowB, timeline: timeB }), [before, after, flowA, flowB, timeA, timeB]);
  const top = list.filter((p) => p.before?.status.kind === "sharded" && p.after?.status.kind === "sharded").slice(0, looked);
  const paces = useQueries({ queries: top.flatMap((p) => [stageQuery(a.id, p.name), stageQuery(b.id, p.name)]) });
  const pace = new Map<string, Pace>(top.map((p, i) => [p.name, { before: paces[2 * i]?.data?.durations, after: paces[2 * i + 1]?.data?.durations }]));
  const changed = list.filter((p) => p.changed.length > 0 || !p.before || !p.after);

  return (
    <>
      <p className={css["summary"]}>{summary(tookOf(before), tookOf(after), list, pace)}</p>
      <div className={css["sides"]}>
        <Side title="The other run" detail={before} />
        <Side title="This run" detail={after} />
      </div>
      <Panel title="Stages, what differs most first" flush>
        <StagePairs runs={[a.id, b.id]} list={list} pace={pace} />
      </Panel>
      <div className={css["sides"]}>
        <Panel title="Params">
          <Params before={a.id} after={b.id} />
        </Panel>
        <Panel title="Version">
          {a.version === b.version ? (
            <p className={css["soft"]}>
              Both ran version <code>{a.version}</code>.
            </p>
          ) : (
            <>
              <p>
                <code>{a.version}</code> → <code>{b.version}</code>
              </p>
              {!flowA || !flowB ? (
                <Loading what="the versions" lines={2} />
              ) : changed.length === 0 ? (
                <p className={css["soft"]}>The graph and the policies are the same: only the code differs.</p>
              ) : (
                <ul className={css["changes"]}>
                  {changed.map((p) => (
                    <li key={p.name}>
                      <strong>{p.name}</strong> {p.before && p.after ? p.changed.join(", ") : sentence(p).slice(p.name.length)}
                    </li>
                  ))}
                </ul>
              )}
            </>
          )}
        </Panel>
      </div>
    </>
  );
}

function Side({ title, detail: { run, ...detail } }: { title: string; detail: Schemas["RunDetail"] }) {
  return (
    <Panel title={title} aside={<StateMark state={run.state} />}>
      <dl className={css["facts"]}>
        <div>
          <dt>Took</dt>
          <dd className={css["big"]}>{duration(tookOf({ run, ...detail }) / 1000)}</dd>
        </div>
        <div>
          <dt>Run</dt>
          <dd>
            <Link to="/runs/$run" params={{ run: run.id }} title={run.id}>
              {shortId(run.id)}
            </Link>
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Time at={run.created_at} />
          </dd>
        </div>
        <div>
          <dt>Trigger</dt>
          <dd>{run.trigger}</dd>
        </div>
        <div>
          <dt>Level, queue</dt>
          <dd>
            {run.level}, {run.queue}
          </dd>
        </div>
      </dl>
    </Panel>
  );
}

function Params({ before, after }: { before: string; after: string }) {
  const a = useQuery(runParamsQuery(before));
  const b = useQuery(runParamsQuery(after));
  if (a.isError || b.isError) return <Failure what="the params" error={a.error ?? b.error} retry={() => void Promise.all([a.refetch(), b.refetch()])} />;
  if (!a.isSuccess || !b.isSuccess) return <Loading what="the params" />;
  const list = diff(a.data, b.data);
  if (list.length === 0) return <p className={css["soft"]}>Both were started with the same params.</p>;
  return (
    <table className={css["diff"]}>
      <thead>
        <tr>
          <th scope="col">Param</th>
          <th scope="col">The other run</th>
          <th scope="col">This run</th>
        </tr>
      </thead>
      <tbody>
        {list.map((d) => (
          <tr key={d.path + d.kind}>
            <th scope="row">{d.path.slice(1).replaceAll("/", ".") || "all"}</th>
            <td data-kind="before">{d.kind === "added" ? <span className={css["soft"]}>not there</span> : <code>{JSON.stringify(d.before)}</code>}</td>
            <td data-kind="after">{d.kind === "removed" ? <span className={css["soft"]}>not there</span> : <code>{JSON.stringify(d.after)}</code>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
