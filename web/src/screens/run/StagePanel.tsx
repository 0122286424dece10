import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import { useStageActs } from "../../acts/useStageActs";
import type { Schemas } from "../../api/client";
import { usePoll } from "../../api/live/useLive";
import { useStageRates } from "../../api/live/useStageRates";
import { stageQuery } from "../../api/queries";
import { kindWords } from "../../graph/nodeName";
import { whenWords } from "../../graph/rules";
import { Button, buttonClass } from "../../ui/Button";
import { count, duration, plural, rate, sentence } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { StateBar } from "../../ui/StateBar";
import { StateMark } from "../../ui/StateMark";
import { lettersOf, stageParts } from "../../ui/states";
import { Elapsed, Time } from "../../ui/Time";
import { WhyLink } from "../../why/WhyLink";
import css from "./StagePanel.module.css";
import { retryWords, timeoutWords } from "./policywords";

const route = getRouteApi("/runs/$run");

/** What is known of the stage that is selected, beside the views. */
export function StagePanel({ detail, flow, stage, explained, onSelect }: { detail: Schemas["RunDetail"]; flow: Schemas["Flow"]; stage: string; explained: Schemas["Explanation"] | undefined; onSelect: (stage: string | undefined) => void }) {
  const status = detail.stages.find((s) => s.name === stage);
  const spec = flow.graph.stages.find((s) => s.name === stage);
  if (!status || !spec) return null;
  return <Body detail={detail} flow={flow} status={status} spec={spec} explained={explained?.stages?.find((s) => s.stage === stage)} onSelect={onSelect} />;
}

function Body({ detail, flow, status, spec, explained, onSelect }: { detail: Schemas["RunDetail"]; flow: Schemas["Flow"]; status: Schemas["StageStatus"]; spec: Schemas["GraphStage"]; explained: Schemas["Explanation"] | undefined; onSelect: (stage: string | undefined) => void }) {
  const run = detail.run.id;
  const { focus } = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run" });
  const acts = useStageActs(detail.run, status);
  const retry = acts.find((a) => a.name === "Retry failed" && !a.disabled);
  const poll = usePoll(5_000, 5_000);
  const going = status.state === "running" || status.state === "planning" || status.state === "cancelling";
  const more = useQuery({ ...stageQuery(run, spec.name), refetchInterval: going ? poll : false }).data;
  const now = useStageRates(detail).get(spec.name);
  const downstream = flow.graph.stages.filter((s) => s.upstreams.includes(spec.name)).map((s) => s.name);
  return (
    <aside className={css["panel"]} aria-label={`Stage ${spec.name}`}>
      <header className={css["head"]}>
        <h2 title={spec.name}>{spec.name}</h2>
        <Button kind="quiet" small aria-label="Close" onClick={() => onSelect(undefined)}>
          <Icon name="close" />
        </Button>
      </header>
      <div className={css["body"]}>
        <div className={css["state"]}>
          <StateMark state={status.state} />
          <span className={css["quiet"]}>{kindWords(spec).join(", ")}</span>
          {status.generation > 1 && <span className={css["quiet"]}>generation {status.generation}</span>}
        </div>
        <p className={css["why"]}>
          <span>{sentence(explained?.diagnosis ?? status.reason ?? "")}</span> <WhyLink run={run} stage={spec.name}>Why?</WhyLink>
        </p>
        <div className={css["buttons"]}>
          <Link className={buttonClass} data-kind="primary" data-small to="/runs/$run/stages/$stage" params={{ run, stage: spec.name }}>
            {spec.kind === "sharded" ? "Open its shards" : "Open the stage"}
          </Link>
          {retry && (
            <Button small onClick={retry.onSelect}>
              Retry failed
            </Button>
          )}
          <Button small aria-pressed={focus === spec.name} onClick={() => void navigate({ to: ".", search: (s) => ({ ...s, focus: focus === spec.name ? undefined : spec.name }), replace: true })}>
            {focus === spec.name ? "Unfocus" : "Focus"}
          </Button>
          <Menu label={`Acts on stage ${spec.name}`} trigger="Acts" items={acts} small />
        </div>

        {spec.kind === "sharded" && status.total >= 0 && (
          <section>
            <StateBar parts={stageParts(status)} tall label={`Shards of ${spec.name}`} />
            <Counts run={run} status={status} />
          </section>
        )}
        <dl className={css["facts"]}>
          {status.ready_at !== undefined && (
            <Row name="Ready">
              <Time at={status.ready_at} />
            </Row>
          )}
          {status.ready_at !== undefined && (
            <Row name={status.finished_at ? "Took" : "Elapsed"}>
              <Elapsed from={status.ready_at} to={status.finished_at} />
            </Row>
          )}
          {now !== undefined && <Row name="Rate now">{rate(now)}</Row>}
          {more?.durations && more.durations.samples > 0 && (
            <Row name="p50 · p95 · p99">
              {[more.durations.p50_s, more.durations.p95_s, more.durations.p99_s].map((d) => (d === undefined ? "–" : duration(d))).join(" · ")}
            </Row>
          )}
        </dl>

        {more?.failures && more.failures.length > 0 && (
          <section>
            <h3>Failures</h3>
            <ul className={css["failures"]}>
              {more.failures.slice(0, 5).map((f) => (
                <li key={f.fingerprint}>
                  <Link to="/runs/$run/stages/$stage" params={{ run, stage: spec.name }} search={{ tab: "failures", fingerprint: f.fingerprint }}>
                    {count(f.count)}×
                  </Link>
                  <span className={css["error"]}>
                    <code>{f.example.code}</code> {f.example.message}
                  </span>
                </li>
              ))}
              {more.failures.length > 5 && <li className={css["quiet"]}>and {plural(more.failures.length - 5, "more group")}</li>}
            </ul>
          </section>
        )}

        <section>
          <h3>When it runs</h3>
          <p className={css["text"]}>
            {whenWords(spec)} {spec.teardown_of === undefined && spec.upstreams.length > 0 && <code>{spec.rule}</code>}
          </p>
          <Near names={spec.upstreams} title="Waits for" detail={detail} onSelect={onSelect} />
          <Near names={downstream} title="Before" detail={detail} onSelect={onSelect} />
        </section>

        <section>
          <h3>Policy</h3>
          <dl className={css["facts"]}>
            <Row name="Retries">{retryWords(spec.retry)}</Row>
            <Row name="Time-outs">{timeoutWords(spec.timeout)}</Row>
            <Row name="Queue, level">
              <Link to="/queues" search={{ queue: spec.queue ?? detail.run.queue }}>
                {spec.queue ?? detail.run.queue}
              </Link>
              , {spec.level ?? detail.run.level}
            </Row>
            {spec.limit !== undefined && <Row name="Limit">{plural(spec.limit, "task")} at once</Row>}
            {spec.rate !== undefined && <Row name="Rate">{spec.rate}</Row>}
            {spec.key !== undefined && <Row name="Concurrency key">{spec.key}</Row>}
            {spec.requires && spec.requires.length > 0 && <Row name="Requires">{spec.requires.join(", ")}</Row>}
            {spec.prefers && spec.prefers.length > 0 && <Row name="Prefers">{spec.prefers.join(", ")}</Row>}
            {spec.downstreams && spec.downstreams.length > 0 && (
              <Row name="Depends on">
                <Link to="/circuits" search={{ q: spec.downstreams[0] }}>
                  {spec.downstreams.join(", ")}
                </Link>
              </Row>
            )}
            {spec.child !== undefined && (
              <Row name="Runs flow">
                <Link to="/flows/$flow" params={{ flow: spec.child }}>
                  {spec.child}
                </Link>
              </Row>
            )}
            {spec.child !== undefined && (
              <Row name="Child runs">
                <Link to="/runs" search={{ q: `parent:${detail.run.id} flow:${spec.child}` }}>
                  All that this run has started
                </Link>
              </Row>
            )}
            {explained?.child && (
              <Row name="Child run">
                <Link to="/runs/$run" params={{ run: explained.child.run }}>
                  {explained.child.state}
                </Link>
              </Row>
            )}
          </dl>
        </section>
      </div>
    </aside>
  );
}

function Row({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className={css["row"]}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Each count leads to its shards. */
function Counts({ run, status: s }: { run: string; status: Schemas["StageStatus"] }) {
  const counts = [
    { name: "succeeded", n: s.succeeded, state: "succeeded" },
    { name: "in flight", n: s.in_flight, state: "in_flight" },
    { name: "ready", n: s.ready, state: "ready,delayed,retrying" },
    { name: "parked", n: s.parked, state: "waiting,aligned,child,skipped,cancelled" },
    { name: "upstream failed", n: s.upstream_failed ?? 0, state: "upstream_failed" },
    { name: "dead", n: lettersOf(s), state: "dead,expired" },
  ].filter((c) => c.n > 0);
  return (
    <p className={css["counts"]}>
      {counts.map((c) => (
        <Link key={c.name} to="/runs/$run/stages/$stage" params={{ run, stage: s.name }} search={{ state: c.state }} data-dead={c.name === "dead" || undefined}>
          {count(c.n)} {c.name}
        </Link>
      ))}
      <span className={css["quiet"]}>of {count(s.total)}</span>
    </p>
  );
}

function Near({ names, title, detail, onSelect }: { names: readonly string[]; title: string; detail: Schemas["RunDetail"]; onSelect: (stage: string) => void }) {
  if (names.length === 0) return null;
  const most = 12;
  return (
    <div className={css["near"]}>
      <span className={css["quiet"]}>{title}</span>
      <ul>
        {names.slice(0, most).map((n) => {
          const s = detail.stages.find((x) => x.name === n);
          return (
            <li key={n}>
              <button type="button" className={css["chip"]} onClick={() => onSelect(n)}>
                {s && <StateMark state={s.state} bare size={12} />} {n}
              </button>
            </li>
          );
        })}
        {names.length > most && <li className={css["quiet"]}>and {count(names.length - most)} more</li>}
      </ul>
    </div>
  );
}
