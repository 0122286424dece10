import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { answer, api } from "../../api/client";
import { keys } from "../../api/keys";
import { duration, shortId } from "../../ui/format";
import { StateMark } from "../../ui/StateMark";
import { noTime, noWorker, type Packed } from "./heat/packed";
import css from "./ShardCard.module.css";

/** A pointer that passes over asks for nothing; one that rests for so long, in ms, does. */
const rest = 120;

/** What is known of the shard under the pointer: at once what the map has, a moment later its key and its error. */
export function ShardCard({ run, stage, index, packed, age }: { run: string; stage: string; index: number; packed: Packed; /** How long it has run by now, in ms. */ age: number | undefined }) {
  const [rests, setRests] = useState<number>();
  useEffect(() => {
    const timer = setTimeout(() => setRests(index), rest);
    return () => clearTimeout(timer);
  }, [index]);
  const item = useQuery({
    queryKey: keys.shard(run, stage, index, "item"),
    queryFn: async ({ signal }) => (await answer(api.GET("/api/v1/runs/{run}/stages/{stage}/shards", { params: { path: { run, stage }, query: { indices: String(index), limit: 1 } }, signal }))).items[0],
    enabled: rests === index,
    staleTime: 5000,
  }).data;
  const state = packed.names[packed.states[index] ?? 0] ?? "waiting";
  const took = packed.durations?.[index] ?? noTime;
  const number = packed.workers?.[index] ?? noWorker;
  const worker = packed.workerIds?.[number] ?? item?.worker ?? item?.last?.worker;
  const attempt = packed.attempts?.[index] ?? item?.attempt;
  return (
    <div className={css["card"]}>
      <div className={css["head"]}>
        <b>Shard {index}</b>
        <StateMark state={state} />
      </div>
      <dl className={css["facts"]}>
        <dt>Key</dt>
        <dd>{item ? (item.key ?? "none") : "…"}</dd>
        <dt>Attempt</dt>
        <dd>{attempt === undefined ? "…" : attempt === 0 ? "none yet" : attempt}</dd>
        <dt>{age === undefined ? "Took" : "Runs for"}</dt>
        <dd>{age === undefined ? (took === noTime ? "–" : duration(took / 1000)) : duration(age / 1000)}</dd>
        <dt>Worker</dt>
        <dd>{worker ? shortId(worker) : item || packed.workers ? "–" : "…"}</dd>
        <dt>Error</dt>
        <dd>{item?.last?.failure && state !== "succeeded" ? item.last.failure.message : item ? "–" : "…"}</dd>
      </dl>
      <span className={css["hint"]}>Drag selects · double click opens</span>
    </div>
  );
}
