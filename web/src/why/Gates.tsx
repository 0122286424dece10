import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { count, shortId } from "../ui/format";
import { Time } from "../ui/Time";
import { gateName, ranked } from "./gates";
import css from "./Why.module.css";

/** Everything between the work and a worker as a checklist: closed gates first, each with its numbers. */
export function Gates({ gates }: { gates: readonly Schemas["Gate"][] }) {
  return (
    <ul className={css["gates"]}>
      {ranked(gates).map((g) => (
        <li key={`${g.name} ${g.scope ?? ""}`} className={css["gate"]} data-open={g.open || undefined}>
          <svg viewBox="0 0 16 16" width="16" height="16" role="img" aria-label={g.open ? "open" : "closed"}>
            {g.open ? <path d="m3 8.500 3.200 3.200L13 5" /> : <path d="M3 2.500h10v11H3zM3 8h10" />}
          </svg>
          <span className={css["gateName"]}>{gateName(g)}</span>
          <span className={css["gateText"]}>
            {g.reason}
            <Numbers gate={g} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Numbers({ gate: g }: { gate: Schemas["Gate"] }) {
  const counts = g.used !== undefined && g.limit !== undefined && g.limit > 0;
  const parts = [
    !g.open && g.since !== undefined && (
      <span key="since">
        since <Time at={g.since} />
      </span>
    ),
    !g.open && g.until !== undefined && (
      <span key="until">
        until <Time at={g.until} /> (<Time at={g.until} ago />)
      </span>
    ),
    g.by && <span key="by">by {g.by}</span>,
    g.holder !== undefined && (
      <span key="holder">
        {g.name === "child" ? "run " : "held longest by "}
        <Link to="." search={(s: Record<string, unknown>) => ({ ...s, why: g.holder })}>
          {shortId(g.holder)}
        </Link>
      </span>
    ),
  ].filter((p) => p !== false && p !== undefined && p !== "");
  if (!counts && parts.length === 0) return null;
  return (
    <span className={css["numbers"]}>
      {counts && (
        <>
          <span className={css["meter"]} data-full={!g.open || undefined} aria-hidden>
            <span style={{ width: `${Math.min(100, ((g.used ?? 0) / (g.limit ?? 1)) * 100)}%` }} />
          </span>
          <span>
            {count(g.used ?? 0)} of {count(g.limit ?? 0)}
          </span>
        </>
      )}
      {parts}
    </span>
  );
}
