import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "../api/client";
import { keys } from "../api/keys";
import type { WhyTarget } from "./target";

/** Why a run, a stage or a shard is as it is. It is asked again by whoever shows it: the stream does not tell of it. */
export const explainQuery = ({ run, stage, shard }: WhyTarget) =>
  queryOptions({
    queryKey: stage === undefined ? keys.run(run, "explain") : shard === undefined ? keys.stage(run, stage, "explain") : keys.shard(run, stage, shard, "explain"),
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/runs/{run}/explain", { params: { path: { run }, query: { ...(stage === undefined ? {} : { stage }), ...(shard === undefined ? {} : { shard }) } }, signal })),
  });
