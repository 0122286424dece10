import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { count, duration, plural } from "../ui/format";
import { StateMark } from "../ui/StateMark";
import { Time } from "../ui/Time";
import { pastOf } from "./past";
import css from "./Why.module.css";

/** Why something ran and how often: the rule, results, the newest attempts, and what operators did. */
export function PastList({ explained: e }: { explained: Schemas["Explanation"] }) {
  const past = pastOf(e);
  const facts = [
    past.why,
    (past.generation ?? 1) > 1 && `generation ${past.generation}: it was rerun`,
    (past.results ?? 0) > 0 && `${past.partial ? "more than " : ""}${plural(past.results ?? 0, "result")} from ${plural(past.workers ?? 0, "worker")}, ${plural(past.attempts ?? 0, "attempt")} at most`,
  ].filter((f) => f !== undefined && f !== false && f !== "");
  if (facts.length === 0 && !past.last?.length && !past.acts?.length) return null;
  return (
    <section className={css["section"]}>
      <h3>Why it ran, and how often</h3>
      <ul className={css["facts"]}>
        {facts.map((f) => (
          <li key={String(f)}>{f}</li>
        ))}
      </ul>
      {past.last && past.last.length > 0 && (
        <table className={css["attempts"]}>
          <thead>
            <tr>
              <th>Attempt</th>
              <th>Outcome</th>
              <th>Started</th>
              <th className={css["right"]}>Waited</th>
              <th className={css["right"]}>Ran</th>
            </tr>
          </thead>
          <tbody>
            {past.last.map((a) => (
              <tr key={`${a.generation} ${a.attempt} ${a.delivery}`}>
                <td>
                  {e.stage !== undefined && e.shard !== undefined ? (
                    <Link to="/runs/$run/stages/$stage/shards/$shard" params={{ run: e.run, stage: e.stage, shard: String(e.shard) }} search={{ attempt: String(a.attempt) }}>
                      {count(a.attempt)}
                    </Link>
                  ) : (
                    count(a.attempt)
                  )}
                  {a.generation > 1 && ` · generation ${a.generation}`}
                </td>
                <td>
                  <StateMark state={a.outcome} />
                  {a.error && <div className={css["error"]}>{a.error}</div>}
                </td>
                <td>
                  <Time at={a.started_at} />
                </td>
                <td className={css["right"]}>{duration(a.waited_s)}</td>
                <td className={css["right"]}>{duration((new Date(a.finished_at).getTime() - new Date(a.started_at).getTime()) / 1000)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {past.acts && past.acts.length > 0 && (
        <ul className={css["acts"]}>
          {past.acts.map((a) => (
            <li key={`${a.at} ${a.kind} ${a.stage ?? ""}`}>
              <Time at={a.at} /> <strong>{a.kind}</strong>
              {a.stage !== undefined && ` of ${a.stage}`} by {a.actor}
              {a.reason && <span className={css["reason"]}>: {a.reason}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
