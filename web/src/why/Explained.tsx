import type { Schemas } from "../api/client";
import { plural, shortId } from "../ui/format";
import { StateMark } from "../ui/StateMark";
import { Gates } from "./Gates";
import { Groups } from "./Groups";
import { PastList } from "./PastList";
import { stateOf } from "./past";
import { Remedies } from "./Remedies";
import { remedies } from "./remedies";
import { Said } from "./Said";
import css from "./Why.module.css";
import { WhyLink } from "./WhyLink";

/** An explanation in full. */
export function Explained({ explained: e }: { explained: Schemas["Explanation"] }) {
  const stages = e.stages ?? [];
  // A run of one stage that waits is that stage's story: its groups are shown in place.
  const only = e.stage === undefined && stages.length === 1 ? stages[0] : undefined;
  return (
    <>
      <div className={css["verdict"]}>
        <StateMark state={stateOf(e.state)} size={18} />
        <Said text={e.diagnosis} large />
      </div>
      <ToDo explained={e} />
      {e.gates && e.gates.length > 0 && (
        <section className={css["section"]}>
          <h3>{e.stage === undefined ? "What holds the whole run" : "What has to hold before it runs"}</h3>
          <Gates gates={e.gates} />
        </section>
      )}
      {e.groups && e.groups.length > 0 && e.stage !== undefined && (
        <section className={css["section"]}>
          <h3>Its tasks</h3>
          <Groups run={e.run} stage={e.stage} groups={e.groups} />
        </section>
      )}
      {stages.length > 0 && (
        <section className={css["section"]}>
          <h3>{e.state === "running" || e.state === "cancelling" ? "Stages that are not done, what holds others up first" : "Stages that did not succeed"}</h3>
          <ol className={css["stages"]}>
            {stages.map((s) => (
              <li key={s.stage} className={css["stage"]}>
                <div className={css["groupHead"]}>
                  <StateMark state={stateOf(s.state)} bare />
                  <WhyLink run={s.run} stage={s.stage}>
                    {s.stage}
                  </WhyLink>
                </div>
                {!only && <Said text={s.diagnosis} />}
                {only?.groups && only.stage !== undefined && <Groups run={only.run} stage={only.stage} groups={only.groups} />}
                {only?.gates && <Gates gates={only.gates} />}
                {s.child && <Child explained={s.child} />}
              </li>
            ))}
          </ol>
          {(e.more ?? 0) > 0 && <p className={css["quiet"]}>and {plural(e.more ?? 0, "more stage")}</p>}
        </section>
      )}
      {e.child && (
        <section className={css["section"]}>
          <h3>The run that it waits for</h3>
          <Child explained={e.child} />
        </section>
      )}
      <PastList explained={e} />
    </>
  );
}

function ToDo({ explained: e }: { explained: Schemas["Explanation"] }) {
  const list = remedies(e);
  if (!e.next && list.length === 0) return null;
  return (
    <section className={css["todo"]} aria-label="What to do">
      {e.next && (
        <p>
          <Commands text={e.next} />
        </p>
      )}
      <Remedies list={list} />
    </section>
  );
}

/** Text with commands in backticks. */
function Commands({ text }: { text: string }) {
  let at = 0;
  return text.split("`").map((part, i) => {
    const key = at;
    at += part.length + 1;
    return i % 2 === 1 ? <code key={key}>{part}</code> : part;
  });
}

function Child({ explained: c }: { explained: Schemas["Explanation"] }) {
  return (
    <div className={css["child"]}>
      <div className={css["groupHead"]}>
        <StateMark state={stateOf(c.state)} />
        <WhyLink run={c.run}>
          {c.flow} {shortId(c.run)}
        </WhyLink>
      </div>
      <Said text={c.diagnosis} />
      <Remedies list={remedies(c)} small most={2} />
    </div>
  );
}
