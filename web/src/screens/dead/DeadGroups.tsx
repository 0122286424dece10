import { useState } from "react";
import { Link } from "@tanstack/react-router";
import { act } from "../../acts/host";
import { useMay } from "../../acts/useMay";
import type { Schemas } from "../../api/client";
import { Button, buttonClass } from "../../ui/Button";
import { Checkbox } from "../../ui/Checkbox";
import { count, plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Time } from "../../ui/Time";
import css from "./Dead.module.css";
import { Letters } from "./Letters";
import { discardGroups, replayGroups } from "./requests";

type Group = Schemas["DeadGroup"];

/** What a group is called in selections. */
export const keyOf = (g: Group): string => `${g.flow}/${g.stage}/${g.fingerprint}`;

/** The set with one more, or one less if it had it. */
function flip(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(key)) next.add(key);
  return next;
}

/** Dead letters that failed for the same reason, one row a group; a row opens to its letters. */
export function DeadGroups({
  groups,
  filter,
  selected,
  onSelect,
  began,
}: {
  groups: readonly Group[];
  filter: Schemas["DeadFilter"];
  selected: ReadonlySet<string>;
  onSelect: (keys: ReadonlySet<string>) => void;
  /** Hears of the replays that have begun. */
  began: (ids: string[]) => void;
}) {
  const may = useMay();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set(groups.length === 1 && groups[0] ? [keyOf(groups[0])] : []));
  const chosen = groups.filter((g) => selected.has(keyOf(g))).length;
  const refused = may("runs:operate");
  return (
    <>
      <div className={css["head"]}>
        <Checkbox bare label="Select all groups" checked={chosen === groups.length} some={chosen > 0 && chosen < groups.length} onChange={(all) => onSelect(new Set(all ? groups.map(keyOf) : []))} />
        <span />
        <span className={css["number"]}>Letters</span>
        <span>Flow / stage</span>
        <span>Error</span>
        <span className={css["number"]}>Runs</span>
        <span className={css["number"]}>First died</span>
        <span className={css["number"]}>Last died</span>
      </div>
      <ul>
        {groups.map((g) => {
          const key = keyOf(g);
          const isOpen = open.has(key);
          return (
            <li key={key} className={css["group"]}>
              <div className={css["row"]}>
                <span className={css["above"]}>
                  <Checkbox bare label={`Select ${plural(g.count, "dead letter")} of ${g.flow}/${g.stage}`} checked={selected.has(key)} onChange={() => onSelect(flip(selected, key))} />
                </span>
                <button type="button" className={css["toggle"]} aria-expanded={isOpen} aria-label={`${plural(g.count, "dead letter")} of ${g.flow}/${g.stage}: ${g.example.message}`} onClick={() => setOpen(flip(open, key))}>
                  <Icon name={isOpen ? "down" : "right"} size={12} />
                </button>
                <b className={css["number"]}>{count(g.count)}</b>
                <span className={css["where"]} title={`${g.flow} / ${g.stage}`}>
                  {g.flow} <small>/ {g.stage}</small>
                </span>
                <span className={css["message"]} title={g.example.message}>
                  <code>{g.example.code}</code>
                  {g.example.message}
                </span>
                <span className={css["number"]}>{count(g.runs)}</span>
                <span className={css["muted"]}>
                  <Time at={g.first} />
                </span>
                <span className={css["muted"]}>
                  <Time at={g.last} ago />
                </span>
              </div>
              {isOpen && (
                <div className={css["body"]}>
                  <pre>
                    {g.example.message}
                    {g.example.stack && `\n\n${g.example.stack}`}
                  </pre>
                  <div className={css["acts"]}>
                    <Button small disabled={refused !== undefined} title={refused} onClick={() => act(replayGroups([g], filter, began))}>
                      Replay this group…
                    </Button>
                    <Button small kind="danger" disabled={refused !== undefined} title={refused} onClick={() => act(discardGroups([g], filter))}>
                      Discard this group…
                    </Button>
                    <Link className={buttonClass} data-small to="/runs/$run/stages/$stage/shards/$shard" params={{ run: g.example_run, stage: g.stage, shard: String(g.example_shard) }}>
                      Open the newest one’s task
                    </Link>
                    <Link className={buttonClass} data-small to="/dead-letters" search={{ flow: g.flow, stage: g.stage, fingerprint: g.fingerprint }}>
                      Only this group
                    </Link>
                  </div>
                  <Letters filter={{ ...filter, flow: g.flow, stage: g.stage, fingerprint: g.fingerprint }} />
                </div>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}
