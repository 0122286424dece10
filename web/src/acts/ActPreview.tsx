import { Link } from "@tanstack/react-router";
import { Button } from "../ui/Button";
import { plural, shortId } from "../ui/format";
import css from "./ActDialog.module.css";
import { extent, lines, refusals, type Outcome } from "./outcome";

const most = 40;

/** What an act would do, by the server's answer to the question. */
export function ActPreview({ outcome, asking, error, waiting, again }: { outcome: Outcome | undefined; asking: boolean; error: Error | null; waiting: string | undefined; again: (() => void) | undefined }) {
  const nothing = outcome?.touched.length === 0;
  const text = outcome && extent(outcome);
  return (
    <section className={css["preview"]} aria-live="polite" aria-busy={asking}>
      <h3>
        What would happen
        {waiting === undefined && asking && <span className={css["asking"]}>asking…</span>}
        {waiting === undefined && !asking && !error && text && <span className={css["extent"]}>{text}</span>}
      </h3>
      {waiting !== undefined ? (
        <p className={css["muted"]}>{waiting}</p>
      ) : error ? (
        <div className={css["refused"]} role="alert">
          <p>{error.message}</p>
          {again && (
            <Button small onClick={again}>
              Ask again
            </Button>
          )}
        </div>
      ) : outcome === undefined ? (
        <p className={css["muted"]}>The server is asked what the act would do. Nothing has been changed.</p>
      ) : (
        <>
          {nothing && <p>{(outcome.runs?.length ?? 0) > 0 || outcome.runs === undefined ? "Nothing to do: everything is so already." : "Nothing to do: no run matches."}</p>}
          <OutcomeLines outcome={outcome} />
          <RefusedRuns outcome={outcome} would />
          {outcome.more && <p className={css["muted"]}>More runs match than one act takes: these are the first.</p>}
        </>
      )}
    </section>
  );
}

/** What an act by filter did. */
export function ActReport({ outcome, past }: { outcome: Outcome; past: string }) {
  return (
    <section className={css["preview"]} aria-live="polite">
      <h3>
        {past} <span className={css["extent"]}>{extent(outcome) || "nothing: everything was so already"}</span>
      </h3>
      <OutcomeLines outcome={outcome} />
      <RefusedRuns outcome={outcome} would={false} />
    </section>
  );
}

function OutcomeLines({ outcome }: { outcome: Outcome }) {
  const all = lines(outcome);
  const many = (outcome.runs?.length ?? 1) > 1;
  return (
    <>
      <ul className={css["lines"]}>
        {all.slice(0, most).map((line, i) => (
          <li key={i}>
            {line.about && <span className={css["about"]}>{line.about}</span>}
            <span>{line.what}</span>
            {many && <span className={css["muted"]}>in {plural(line.runs, "run")}</span>}
          </li>
        ))}
      </ul>
      {all.length > most && <p className={css["muted"]}>and {plural(all.length - most, "more line")}</p>}
    </>
  );
}

function RefusedRuns({ outcome, would }: { outcome: Outcome; would: boolean }) {
  const groups = refusals(outcome);
  if (groups.length === 0) return null;
  return (
    <div className={css["refusedRuns"]}>
      <h4>{would ? "It would not act on" : "It did not act on"}</h4>
      <ul className={css["lines"]}>
        {groups.map((g) => (
          <li key={g.detail}>
            <span className={css["about"]}>{plural(g.runs.length, "run")}</span>
            <span>{g.detail}</span>
            <span className={css["runs"]}>
              {g.runs.slice(0, 5).map((r) => (
                <Link key={r.run} to="/runs/$run" params={{ run: r.run }}>
                  {shortId(r.run)}
                </Link>
              ))}
              {g.runs.length > 5 && "…"}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
