import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Schemas } from "../../api/client";
import { duration, shortId } from "../../ui/format";
import { StateMark } from "../../ui/StateMark";
import { Elapsed, Time } from "../../ui/Time";
import css from "./Attempts.module.css";
import { tries, type Try } from "./tries";

interface Props {
  attempts: readonly Schemas["Attempt"][];
  /** The attempt that runs now. */
  running: Schemas["Running"] | undefined;
  /** The attempt whose log is shown. */
  selected: number | undefined;
  onSelect: (attempt: number | undefined) => void;
}

/** A task's attempts side by side, the oldest at the left. */
export function Attempts({ attempts, running, selected, onSelect }: Props) {
  const list = tries(attempts);
  const box = useRef<HTMLOListElement>(null);
  const number = list.length + (running ? 1 : 0);
  useEffect(() => {
    // The newest is what matters.
    if (number > 0 && box.current) box.current.scrollLeft = box.current.scrollWidth;
  }, [number]);
  return (
    // A box that scrolls must be reachable by the keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <ol ref={box} className={css["attempts"]} tabIndex={0} aria-label="Attempts, the oldest first">
      {list.map((t) => (
        <Column key={t.key} t={t} selected={t.attempt.attempt === selected} onSelect={onSelect} generations={(list.at(-1)?.attempt.generation ?? 1) > 1} />
      ))}
      {running && !list.some((t) => t.attempt.execution === running.execution) && (
        <li className={css["attempt"]} data-selected={running.attempt === selected || undefined}>
          <Head n={running.attempt} selected={running.attempt === selected} onSelect={onSelect}>
            <StateMark state="in_flight" />
          </Head>
          <dl>
            <Fact name="Ran" value={<Elapsed from={running.started_at} />} />
            <Fact name="Began" value={<Time at={running.started_at} />} />
            <Fact name="Worker" value={<WorkerLink id={running.worker} />} />
          </dl>
        </li>
      )}
    </ol>
  );
}

function Column({ t, selected, onSelect, generations }: { t: Try; selected: boolean; onSelect: Props["onSelect"]; generations: boolean }) {
  const a = t.attempt;
  return (
    <li className={css["attempt"]} data-selected={selected || undefined}>
      <Head n={a.attempt} selected={selected} onSelect={onSelect}>
        <StateMark state={a.outcome} />
      </Head>
      <dl>
        {/* What is kept of an ended attempt does not tell until when it backed off. */}
        {t.between === undefined ? <Fact name="Queued" value={duration(t.queued / 1000)} /> : <Fact name="Backed off, queued" value={duration((t.between + t.queued) / 1000)} />}
        <Fact name="Ran" value={duration(t.ran / 1000)} />
        <Fact name="Began" value={<Time at={a.started_at} />} />
        <Fact name="Ended" value={<Time at={a.finished_at} />} />
        <Fact name="Worker" value={a.worker ? <WorkerLink id={a.worker} /> : "marked by hand"} />
        {a.delivery > 1 && <Fact name="Delivery" value={`${a.delivery}: handed out again`} />}
        {generations && <Fact name="Generation" value={a.generation} />}
      </dl>
      {a.failure && (
        <div className={css["error"]}>
          <code>{a.failure.code}</code>
          {a.failure.retryable === false && <span className={css["soft"]}> not retried</span>}
          {t.sameAs && <span className={css["soft"]}> the same fault as {t.sameAs}</span>}
          <p>{a.failure.message}</p>
          {a.failure.stack && (
            <details>
              <summary>Stack</summary>
              <pre>{a.failure.stack}</pre>
            </details>
          )}
        </div>
      )}
    </li>
  );
}

function Head({ n, selected, onSelect, children }: { n: number; selected: boolean; onSelect: Props["onSelect"]; children: React.ReactNode }) {
  return (
    <div className={css["head"]}>
      <strong>Attempt {n}</strong>
      {children}
      <button type="button" className={css["choose"]} aria-pressed={selected} title={selected ? "Show the log of all attempts" : "Show the log of this attempt only"} onClick={() => onSelect(selected ? undefined : n)}>
        Log
      </button>
    </div>
  );
}

const WorkerLink = ({ id }: { id: string }) => (
  <Link to="/workers" search={{ worker: id }} title={id}>
    {shortId(id)}
  </Link>
);

function Fact({ name, value }: { name: string; value: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
