import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";
import { count, percent } from "../../ui/format";
import css from "./Dead.module.css";

/** Replays that are going on, with how far they are; nothing if there are none. */
export function Going() {
  const poll = usePoll(2000, 2000);
  const replays = useQuery({
    queryKey: keys.replays("newest"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/replays", { params: { query: { limit: 20 } }, signal })),
    refetchInterval: (query) => (query.state.data?.items.some((r) => r.state === "canary" || r.state === "running") ? poll : false),
  });
  const going = replays.data?.items.filter((r) => r.state === "canary" || r.state === "running") ?? [];
  return going.map((r) => (
    <div key={r.id} className={css["going"]} role="status">
      <span>
        {r.state === "canary" ? `A replay waits for its canary of ${count(r.canary ?? 0)}` : "A replay is going on"}: {count(r.moved)} of {count(r.total)} moved ({percent(r.moved, r.total)})
      </span>
      <Link to="/replays" search={{ ...(r.id && { replay: r.id }) }}>
        See it
      </Link>
    </div>
  ));
}
