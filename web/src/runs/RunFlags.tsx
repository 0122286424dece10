import type { Schemas } from "../api/client";
import { StateMark } from "../ui/StateMark";
import css from "./RunFlags.module.css";

/** A run's state, and the marks of what is wrong with it: late, paused, stuck. */
export function RunState({ run }: { run: Schemas["Run"] }) {
  return (
    <span className={css["state"]}>
      <StateMark state={run.paused && run.state === "running" ? "paused" : run.state} />
      {run.stuck !== undefined && (
        <span className={css["mark"]} data-bad title={`The engine cannot decide it: ${run.stuck}`}>
          stuck
        </span>
      )}
      {run.late && (
        <span className={css["mark"]} title="It takes, or took, longer than its flow’s late_after">
          late
        </span>
      )}
    </span>
  );
}

/** Tags as small labels, in the order of their names; what has no room is cut off and stands in the title. */
export function Tags({ tags }: { tags: Schemas["Run"]["tags"] }) {
  const all = Object.entries(tags ?? {}).toSorted(([a], [b]) => a.localeCompare(b));
  if (all.length === 0) return null;
  return (
    <span className={css["tags"]} title={all.map(([k, v]) => `${k}=${v}`).join("\n")}>
      {all.map(([k, v]) => (
        <span key={k} className={css["tag"]}>
          {k}={v}
        </span>
      ))}
    </span>
  );
}
