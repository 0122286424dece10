import type { Schemas } from "../../api/client";
import { count, duration, short } from "../../ui/format";
import { Meter } from "../../ui/Meter";
import { useNow } from "../../ui/now";
import { left } from "./left";
import css from "./TaskScreen.module.css";

/** How far a running task says it has come, with what it says it is doing. Without a total there is a number and no bar. */
export function Progress({ running }: { running: Schemas["Running"] }) {
  const now = useNow();
  const { done, total, detail } = running;
  if (done === undefined && detail === undefined) return null;
  const rest = left(running, now);
  return (
    <div className={css["progress"]}>
      {done !== undefined && total !== undefined && total > 0 ? <Meter label="Progress of the task" share={done / total} text={`${count(done)} of ${count(total)}`} tall /> : <span />}
      <span>
        {done !== undefined && (total !== undefined ? `${short(done)} of ${short(total)}` : short(done))}
        {rest !== undefined && `, about ${duration(rest)} left`}
      </span>
      <span className={css["detail"]} title={detail}>
        {detail}
      </span>
    </div>
  );
}
