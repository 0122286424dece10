import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../../api/client";
import { usePoll } from "../../../api/live/useLive";
import { stageQuery } from "../../../api/queries";
import { duration } from "../../../ui/format";
import css from "./StageTable.module.css";

/** A percentile of a stage's attempts. It is read per stage, so only rows in sight ask for it. */
export function DurationCell({ run, status, of }: { run: string; status: Schemas["StageStatus"]; of: "p50_s" | "p95_s" }) {
  const begun = status.succeeded > 0;
  const poll = usePoll(10_000, 10_000);
  const over = status.finished_at !== undefined;
  const { data } = useQuery({ ...stageQuery(run, status.name), enabled: begun, staleTime: over ? 60_000 : 9_000, refetchInterval: over ? false : poll });
  const value = data?.durations?.[of];
  return value === undefined ? <span className={css["none"]}>–</span> : duration(value);
}
