import { use } from "react";
import { duration } from "./format";
import { useNow } from "./now";
import { absolute, brief, ZoneContext } from "./zone";
import css from "./Time.module.css";

/** A point in time, short, with the whole of it on hover. `ago` shows the age instead: "4m 05s ago". */
export function Time({ at, ago = false }: { at: string | undefined; ago?: boolean }) {
  const { zone } = use(ZoneContext);
  const now = useNow();
  if (!at) return <span className={css["time"]}>–</span>;
  const date = new Date(at);
  const age = (now - date.getTime()) / 1000;
  const text = !ago ? brief(date, new Date(now), zone) : age >= 0 ? `${duration(age)} ago` : `in ${duration(-age)}`;
  return (
    <time className={css["time"]} dateTime={at} title={absolute(date, zone)}>
      {text}
    </time>
  );
}

/** How long something took, or has taken by now if it has no end. */
export function Elapsed({ from, to }: { from: string | undefined; to?: string | undefined }) {
  const { zone } = use(ZoneContext);
  const now = useNow(from !== undefined && to === undefined);
  if (!from) return <span className={css["time"]}>–</span>;
  const start = new Date(from);
  const end = to ? new Date(to).getTime() : now;
  return (
    <span className={css["time"]} title={`${absolute(start, zone)} to ${to ? absolute(new Date(to), zone) : "now"}`}>
      {duration((end - start.getTime()) / 1000)}
    </span>
  );
}
