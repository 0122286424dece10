import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";
import { shortId } from "../../ui/format";
import css from "./Facts.module.css";

/** Says in one sentence how the stage is and what to do; the drawer has every gate. */
export function Diagnosis({ run, status }: { run: string; status: Schemas["StageStatus"] }) {
  const ended = status.finished_at !== undefined;
  const poll = usePoll(5000, 5000);
  const why = useQuery({
    queryKey: keys.stage(run, status.name, "explain"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs/{run}/explain", { params: { path: { run }, query: { stage: status.name } }, signal })),
    refetchInterval: ended ? false : poll,
  });
  return (
    <div className={css["diagnosis"]}>
      <p>
        <strong>{why.data ? why.data.diagnosis : why.isError ? "It could not be asked why." : "\u00a0"}</strong>
        {why.data?.next && ` ${why.data.next}`}
      </p>
      <Link to="." search={(s: Record<string, unknown>) => ({ ...s, why: `${run}/${status.name}` })} aria-label={`Why is ${status.name} of run ${shortId(run)} as it is?`}>
        Why?
      </Link>
    </div>
  );
}
