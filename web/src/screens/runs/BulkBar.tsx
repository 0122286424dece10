import { act } from "../../acts/host";
import { bulkAct } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import type { BulkVerb } from "../../acts/verbs";
import { bulkVerbs } from "../../acts/verbs";
import { filterOf } from "../../runs/filter";
import { Button } from "../../ui/Button";
import { plural } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import css from "./BulkBar.module.css";

const often: readonly BulkVerb[] = ["retry", "cancel", "pause", "resume"];
const seldom: readonly BulkVerb[] = ["level", "expedite", "demote", "rerun", "skip", "mark-success"];

/**
 * The verbs on the runs that are selected, or on all that the search finds, where the API's filter can say what the search says. Each asks
 * first how many it would touch.
 */
export function BulkBar({ q, selected, all, onAll, onNone }: { q: string; selected: ReadonlySet<string>; all: boolean; onAll: (all: boolean) => void; onNone: () => void }) {
  const may = useMay();
  const refusal = may("runs:operate");
  // Which times are meant does not matter here, only whether the filter can say them.
  const { filter, cannot } = filterOf(q, new Date(0));
  const which = all ? "all runs of the search" : plural(selected.size, "run");
  const run = (verb: BulkVerb) => {
    // The times of the search are taken when the dialog opens, so that what is asked and what is done are the same runs.
    const now = filterOf(q, new Date()).filter;
    act(bulkAct(all && now ? now : { runs: [...selected] }, verb, which));
  };
  const button = (verb: BulkVerb) => (
    <Button key={verb} small kind={verb === "cancel" ? "danger" : "plain"} disabled={refusal !== undefined} title={refusal ?? bulkVerbs[verb].says} onClick={() => run(verb)}>
      {bulkVerbs[verb].name}
    </Button>
  );
  return (
    <div className={css["bar"]} role="group" aria-label="Acts on the selection">
      <strong>{all ? "All that match" : `${plural(selected.size, "run")} selected`}</strong>
      {all ? (
        <Button kind="quiet" small onClick={() => onAll(false)}>
          Only the {plural(selected.size, "selected run")}
        </Button>
      ) : filter ? (
        <Button kind="quiet" small onClick={() => onAll(true)}>
          Select all that match
        </Button>
      ) : (
        <span className={css["note"]}>
          {cannot.length === 0
            ? "Search for something to act on all that match."
            : `Verbs on all that match cannot say ${cannot.join(" ")}: they act on the selected runs only.`}
        </span>
      )}
      <span className={css["verbs"]}>
        {often.map(button)}
        <Menu label="More acts" small trigger="More" items={seldom.map((verb) => ({ name: `${bulkVerbs[verb].name}…`, onSelect: () => run(verb), hint: refusal ?? bulkVerbs[verb].says, disabled: refusal !== undefined }))} />
        <Button kind="quiet" small onClick={onNone}>
          Clear
        </Button>
      </span>
    </div>
  );
}
