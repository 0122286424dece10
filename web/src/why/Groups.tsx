import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { plural } from "../ui/format";
import { StateMark } from "../ui/StateMark";
import { Time } from "../ui/Time";
import { Gates } from "./Gates";
import { stateOf } from "./past";
import { Said } from "./Said";
import css from "./Why.module.css";

/** The shards of a stage by what has become of them, what needs somebody first. Gates of the first that waits are open. */
export function Groups({ run, stage, groups }: { run: string; stage: string; groups: readonly Schemas["ExplainedGroup"][] }) {
  const first = groups.findIndex((g) => g.gates?.some((gate) => !gate.open && gate.name !== "end"));
  return (
    <ul className={css["groups"]}>
      {groups.map((g, i) => (
        // Groups have no name of their own: the fate and its place among those of the same fate.
        <li key={`${g.fate} ${groups.slice(0, i).filter((o) => o.fate === g.fate).length}`} className={css["group"]}>
          <div className={css["groupHead"]}>
            <StateMark state={stateOf(g.fate)} />
            <strong>{plural(g.tasks, "task")}</strong>
            <Shards run={run} stage={stage} text={g.shards} />
            {g.due !== undefined && (
              <span className={css["due"]}>
                due <Time at={g.due} ago />
              </span>
            )}
          </div>
          {g.diagnosis !== g.fate && <Said text={g.diagnosis} />}
          {g.gates && g.gates.length > 0 && !(g.gates.length === 1 && g.gates[0]?.name === "end") && (
            <details className={css["details"]} open={i === first}>
              <summary>
                {plural(g.gates.filter((x) => !x.open).length, "closed gate")} of {g.gates.length}
              </summary>
              <Gates gates={g.gates} />
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Indices as links to the explanation of each, the ranges as they are. */
function Shards({ run, stage, text }: { run: string; stage: string; text: string }) {
  if (text === "" || text === "0") return null;
  return (
    <span className={css["shards"]}>
      {text.split(",").map((part, i) => {
        const index = part === "plan" ? -1 : /^\d+/.exec(part)?.[0];
        return (
          <span key={part}>
            {i > 0 && ", "}
            {index === undefined ? (
              part
            ) : (
              <Link to="." search={(s: Record<string, unknown>) => ({ ...s, why: `${run}/${stage}/${index}` })} title={`Why shard ${index}?`}>
                {part}
              </Link>
            )}
          </span>
        );
      })}
    </span>
  );
}
