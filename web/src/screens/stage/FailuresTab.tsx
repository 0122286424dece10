import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { act } from "../../acts/host";
import { stageAct } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import type { Schemas } from "../../api/client";
import { Button, buttonClass } from "../../ui/Button";
import { count, plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Empty, Failure, Loading } from "../../ui/Notice";
import { Time } from "../../ui/Time";
import css from "./Failures.module.css";
import { maskOf, sizeOfMask, type Mask } from "./heat/selection";
import { parseSpans } from "./heat/spans";
import { route } from "./route";
import type { Selection } from "./useSelection";

/** The stage's failed attempts by normalised error, the largest group first. */
export function FailuresTab({ run, status, failures, selection, dead }: { run: Schemas["Run"]; status: Schemas["StageStatus"]; failures: UseQueryResult<Schemas["StageFailureList"]>; selection: Selection; /** The shards that are dead letters. */ dead: Mask | undefined }) {
  const { fingerprint } = route.useSearch();
  const navigate = route.useNavigate();
  if (failures.isError) return <Failure what="the failures" error={failures.error} retry={() => void failures.refetch()} />;
  if (!failures.data) return <Loading what="the failures" lines={4} />;
  const { items, partial } = failures.data;
  const all = dead && status.dead > 0 && (
    <Button small onClick={() => selection.select(dead)}>
      Select all failed ({count(sizeOfMask(dead))})
    </Button>
  );
  if (items.length === 0) return <Empty title={status.dead > 0 ? "No attempt is grouped here" : "No attempt has failed"} action={all}>{status.dead > 0 ? "The dead letters of this stage failed in another way than by an attempt: the shards list says how." : "Errors are grouped here as soon as there are some, those that are tried again too."}</Empty>;
  const open = (group: string) => void navigate({ search: (s) => ({ ...s, fingerprint: fingerprint === group ? undefined : group }), replace: true, resetScroll: false });
  return (
    <>
      {all && <div className={css["all"]}>{all}</div>}
      <ul className={css["list"]}>
        {items.map((g) => (
          <li key={g.fingerprint} className={css["group"]}>
            <button type="button" className={css["head"]} aria-expanded={fingerprint === g.fingerprint} onClick={() => open(g.fingerprint)}>
              <Icon name={fingerprint === g.fingerprint ? "down" : "right"} size={12} />
              <span className={css["number"]} title={`${plural(g.attempts, "failed attempt")} of ${plural(g.shard_count, "shard")}`}>
                {count(g.attempts)} ×
              </span>
              <span className={css["message"]} title={g.example.message}>
                <code>{g.example.code}</code>
                {g.example.message}
              </span>
              <span className={`${css["muted"]} ${css["right"]}`}>
                {plural(g.shard_count, "shard")}
                {g.dead > 0 && `, ${count(g.dead)} dead`}
              </span>
              <span className={`${css["muted"]} ${css["right"]}`}>
                <Time at={g.first} /> – <Time at={g.last} />
              </span>
            </button>
            {fingerprint === g.fingerprint && <Group run={run} status={status} group={g} selection={selection} />}
          </li>
        ))}
      </ul>
      {partial && <p className={css["body"]}>Of the newest 10,000 failed attempts: there were more.</p>}
    </>
  );
}

function Group({ run, status, group: g, selection }: { run: Schemas["Run"]; status: Schemas["StageStatus"]; group: Schemas["StageFailureGroup"]; selection: Selection }) {
  const may = useMay();
  // A set that the server has cut ends in "...": what is there of it can be selected, and it says so.
  const cut = g.shards.endsWith("...");
  const set = cut ? g.shards.slice(0, -4) : g.shards;
  const spans = parseSpans(set);
  const refused = may("runs:operate") ?? (g.dead === 0 ? "None of these shards has failed for good." : undefined);
  return (
    <div className={css["body"]}>
      <pre>
        {g.example.message}
        {g.example.stack && `\n\n${g.example.stack}`}
      </pre>
      <p className={css["muted"]}>
        Example: <Link to="/runs/$run/stages/$stage/shards/$shard" params={{ run: run.id, stage: status.name, shard: String(g.example_shard) }}>shard {g.example_shard}</Link>
        {!g.example.retryable && " · permanent: it was not tried again"} · shards {g.shards.length > 120 ? `${g.shards.slice(0, 120)}…` : g.shards}
      </p>
      <div className={css["acts"]}>
        <Button small disabled={!spans} onClick={() => spans && selection.select(maskOf(spans, status.total))}>
          Select {cut ? "the first 100 ranges" : plural(g.shard_count, "shard")}
        </Button>
        <Button small kind="primary" disabled={refused !== undefined || !spans} title={refused} onClick={() => act(stageAct(run.id, status.name, "retry", set))}>
          Retry {g.dead === 1 ? "the dead one" : `${count(g.dead)} dead`}
        </Button>
        {g.dead > 0 && (
          <Link className={buttonClass} data-small to="/dead-letters" search={{ flow: run.flow, stage: status.name, fingerprint: g.fingerprint }}>
            Open in dead letters
          </Link>
        )}
      </div>
    </div>
  );
}
