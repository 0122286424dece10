import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";
import { sentence, shortId } from "../../ui/format";
import { askWhy } from "../../why/query";
import css from "./Facts.module.css";

/** Says in one sentence how the stage is and what to do; the drawer has every gate. */
export function Diagnosis({ run, status }: { run: string; status: Schemas["StageStatus"] }) {
  const ended = status.finished_at !== undefined;
  const poll = usePoll(5000, 5000);
  const why = useQuery({
    // What has changed its state has another reason at once.
    queryKey: keys.stage(run, status.name, "explain", status.generation, status.state),
    queryFn: ({ signal }) => askWhy({ run, stage: status.name }, signal),
    refetchInterval: ended ? false : poll,
    placeholderData: (before) => before,
  });
  return (
    <div className={css["diagnosis"]}>
      <p title={why.data && `${why.data.diagnosis} ${why.data.next ?? ""}`}>
      <strong>{why.data ? sentence(why.data.diagnosis) : why.isError ? "It could not be asked why." : "\u00a0"}</strong>{" "}
      {why.data?.next && <Code text={sentence(why.data.next)} />}
      </p>
      <Link to="." search={(s: Record<string, unknown>) => ({ ...s, why: `${run}/${status.name}` })} aria-label={`Why is ${status.name} of run ${shortId(run)} as it is?`}>
        Why?
      </Link>
    </div>
  );
}

/** Text whose commands stand between backticks. */
function Code({ text }: { text: string }): React.ReactNode {
  const [before, command, ...after] = text.split("`");
  if (command === undefined) return before;
  return (
    <>
      {before}
      <code>{command}</code>
      <Code text={after.join("`")} />
    </>
  );
}
