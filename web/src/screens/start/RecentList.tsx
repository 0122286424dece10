import { useQuery } from "@tanstack/react-query";
import { Refusal } from "../../api/client";
import { print, type Json } from "../../params/json";
import { Button } from "../../ui/Button";
import { plural } from "../../ui/format";
import { Loading } from "../../ui/Notice";
import { StateMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import { recentQuery } from "./queries";
import css from "./StartScreen.module.css";

/** Params that runs of the flow were started with lately, to begin from. */
export function RecentList({ flow, onUse }: { flow: string; onUse: (params: Json) => void }) {
  const recent = useQuery(recentQuery(flow));
  if (recent.isPending) return <Loading what="recent params" lines={2} />;
  if (recent.isError) {
    const forbidden = recent.error instanceof Refusal && recent.error.problem.code === "forbidden";
    return <p className={css["muted"]}>{forbidden ? "Your credential lacks the permission payloads:read, so that you cannot see what runs were started with." : `Could not be read: ${recent.error.message}`}</p>;
  }
  if (recent.data.length === 0) return <p className={css["muted"]}>No run of this flow yet.</p>;
  return (
    <ul className={css["recent"]}>
      {recent.data.map((r) => (
        <li key={r.run} className={css["recentRow"]}>
          <StateMark state={r.state} bare />
          <code className={css["recentText"]} title={print(r.params, 2)}>
            {print(r.params)}
          </code>
          <span className={css["muted"]} title={plural(r.runs, "run")}>
            {r.runs > 1 ? `${r.runs}×` : ""} <Time at={r.created_at} ago />
          </span>
          <Button small onClick={() => onUse(r.params)} aria-label={`Use the params ${print(r.params)}`}>
            Use
          </Button>
        </li>
      ))}
    </ul>
  );
}
