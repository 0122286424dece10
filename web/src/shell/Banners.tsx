import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { answer, api, Refusal } from "../api/client";
import { keys } from "../api/keys";
import { meQuery, serverQuery } from "../api/queries";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Time } from "../ui/Time";
import { toast } from "../ui/toast";
import css from "./Banners.module.css";

/** What concerns every screen: the server does not answer, a part of it is turned off. */
export function Banners() {
  return (
    <>
      <Unreachable />
      <SwitchedOff />
    </>
  );
}

const away = (error: Error | null): boolean => error instanceof Refusal && (error.problem.code === "unavailable" || error.problem.code === "timeout" || error.problem.status === 0 || error.problem.status >= 502);

function Unreachable() {
  const cache = useQueryClient();
  const server = useQuery({ ...serverQuery, retry: false, refetchInterval: (q) => (q.state.error ? 3_000 : 30_000), refetchIntervalInBackground: false });
  const gone = away(server.error);
  const was = useRef(false);
  useEffect(() => {
    const back = was.current && !gone;
    was.current = gone;
    if (!back) return;
    toast({ title: "The server answers again", text: "Everything is read anew." });
    void cache.invalidateQueries();
  }, [gone, cache]);
  if (!gone) return null;
  return (
    <div className={css["banner"]} data-kind="bad" role="alert">
      <Icon name="warn" />
      <span>
        <strong>The server does not answer.</strong>
        {server.dataUpdatedAt > 0 && (
          <>
            {" "}
            It last did at <Time at={new Date(server.dataUpdatedAt).toISOString()} />.
          </>
        )}{" "}
        What you see may be old; it is tried again every few seconds.
      </span>
      <Button small onClick={() => void server.refetch()}>
        Try now
      </Button>
    </div>
  );
}

function SwitchedOff() {
  const me = useQuery(meQuery).data;
  const settings = useQuery({
    queryKey: keys.admin("settings"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/settings", { signal })),
    enabled: me?.permissions.includes("fleet:read") ?? false,
    refetchInterval: 60_000,
    staleTime: 30_000,
  });
  const off = settings.data?.items.filter((s) => !s.on) ?? [];
  if (off.length === 0) return null;
  return (
    <div className={css["banner"]} data-kind="warn" role="status">
      <Icon name="warn" />
      <span>
        <strong>Turned off:</strong> {off.map((s) => s.name).join(", ")}. A plain fallback takes the place of each.
      </span>
      <Link to="/settings">Settings</Link>
    </div>
  );
}
