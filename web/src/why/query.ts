import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "../api/client";
import { keys } from "../api/keys";
import type { WhyTarget } from "./target";

/** Asks why a run, a stage or a shard is as it is. */
export const askWhy = ({ run, stage, shard }: WhyTarget, signal: AbortSignal) =>
  answer(api.GET("/api/v1/runs/{run}/explain", { params: { path: { run }, query: { ...(stage === undefined ? {} : { stage }), ...(shard === undefined ? {} : { shard }) } }, signal }));

/** Why a run, a stage or a shard is as it is. It is asked again by whoever shows it: the stream does not tell of it. */
export const explainQuery = (target: WhyTarget) => {
  const { run, stage, shard } = target;
  return queryOptions({
    queryKey: stage === undefined ? keys.run(run, "explain") : shard === undefined ? keys.stage(run, stage, "explain") : keys.shard(run, stage, shard, "explain"),
    queryFn: ({ signal }) => askWhy(target, signal),
  });
};
