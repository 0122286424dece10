import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useStageActs } from "../../acts/useStageActs";
import type { Schemas } from "../../api/client";
import { Button, buttonClass } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { count, plural } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { ToneMark } from "../../ui/StateMark";
import { toneOf, wordOf } from "../../ui/states";
import { ExportDialog } from "./ExportDialog";
import type { Packed } from "./heat/packed";
import { countStates, sizeOfMask } from "./heat/selection";
import css from "./SelectionBar.module.css";
import type { Selection } from "./useSelection";

/** The most characters of a set that an act takes (openapi.yaml, StageAct). */
const mostText = 100_000;

/** What is selected, by state, and what can be done with it. It stays in sight at the window's foot. */
export function SelectionBar({ run, status, packed, selection }: { run: Schemas["Run"]; status: Schemas["StageStatus"]; packed: Packed; selection: Selection }) {
  const { mask, text } = selection;
  const [exporting, setExporting] = useState(false);
  const acts = useStageActs(run, status, text ?? "");
  const states = useMemo(() => (mask ? countStates(packed.states, packed.names.length, mask) : []), [mask, packed]);
  if (!mask || text === undefined) return null;
  const n = sizeOfMask(mask);
  const tooLong = text.length > mostText;
  const [retry, ...rest] = acts;
  const failed = packed.names.some((name, i) => (name === "dead" || name === "expired") && (states[i] ?? 0) > 0);
  const first = retry && !retry.disabled && failed && !tooLong ? retry : undefined;
  return (
    <section className={css["bar"]} aria-label="Selection">
      <span className={css["count"]} role="status">
        {plural(n, "shard")} selected
      </span>
      <span className={css["set"]} title={text.length > 300 ? `${text.slice(0, 300)}…` : text}>
        {text.length > 200 ? `${text.slice(0, 200)}…` : text}
      </span>
      <Copy text={text} what="the set of shards" />
      <span className={css["states"]}>
        {states.map((c, i) => {
          const name = packed.names[i];
          return (
            c > 0 &&
            name && (
              <span key={name}>
                <ToneMark tone={toneOf(name)} /> {count(c)} {wordOf(name)}
              </span>
            )
          );
        })}
      </span>
      {tooLong ? <span className={css["note"]}>Too many ranges for one act: select fewer, or order by what they have in common.</span> : selection.unshared && <span className={css["note"]}>Too many ranges for the address: a link does not keep this selection.</span>}
      <span className={css["acts"]}>
        {n === 1 && (
          <Link className={buttonClass} data-small to="/runs/$run/stages/$stage/shards/$shard" params={{ run: run.id, stage: status.name, shard: String(mask.indexOf(1)) }}>
            Open task
          </Link>
        )}
        {first && (
          <Button small kind="primary" onClick={first.onSelect}>
            {first.name}
          </Button>
        )}
        <Menu small label="Act on the selected shards" trigger="Act" items={tooLong ? [] : first ? rest : acts} />
        <Button small onClick={() => setExporting(true)}>
          Export
        </Button>
        <Button small kind="quiet" onClick={() => selection.select(undefined)}>
          Clear
        </Button>
      </span>
      {exporting && <ExportDialog run={run.id} stage={status.name} set={text} total={n} onClose={() => setExporting(false)} />}
    </section>
  );
}
