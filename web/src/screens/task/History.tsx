import { useQuery } from "@tanstack/react-query";
import { Empty, Failure, Loading } from "../../ui/Notice";
import { Panel } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { concerns, reasonOf } from "./concerns";
import { historyQuery } from "./reads";
import css from "./TaskScreen.module.css";

/** What operators and the engine did that concerns a task. */
export function History({ run, stage, index }: { run: string; stage: string; index: number }) {
  const read = useQuery(historyQuery(run, stage));
  const lines = read.data?.filter((l) => concerns(l, stage, index));
  return (
    <div className={css["tab"]}>
      <Panel title="Done to it, to its stage, or to the run" flush>
        {read.isError ? (
          <Failure what="the journal" error={read.error} retry={() => void read.refetch()} />
        ) : !lines ? (
          <Loading what="the journal" />
        ) : lines.length === 0 ? (
          <Empty title="Nobody has done anything to it">What operators do (retry, rerun, skip …) and what the engine decides out of the ordinary stands here.</Empty>
        ) : (
          <ol className={css["history"]}>
            {lines.map((l) => (
              <li key={l.id}>
                <Time at={l.at} />
                <strong>{l.kind.replaceAll("_", " ")}</strong>
                <span>{l.actor}</span>
                <span className={css["soft"]}>{reasonOf(l.detail)}</span>
              </li>
            ))}
          </ol>
        )}
      </Panel>
    </div>
  );
}
