import type { Tone } from "../../ui/states";
import { ToneMark } from "../../ui/StateMark";
import type { Health, Mood } from "./health";
import css from "./HealthLine.module.css";

const tones: Record<Mood, Tone> = { ok: "succeeded", warn: "retrying", bad: "failed" };

/** The answer in a sentence, as high before it is known as after. `stale` is why the figures could not be read anew. */
export function HealthLine({ health, stale }: { health: Health | undefined; stale?: Error | undefined }) {
  return (
    <div className={css["line"]} data-mood={health?.mood} role="status" aria-busy={!health}>
      {health ? (
        <>
          <ToneMark tone={tones[health.mood]} size={26} />
          <div>
            <p className={css["title"]}>{health.title}</p>
            <p className={css["detail"]}>{health.detail}</p>
            {stale && <p className={css["stale"]}>These figures are old: {stale.message}</p>}
          </div>
        </>
      ) : (
        <p className={css["detail"]}>Looking …</p>
      )}
    </div>
  );
}
