import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { count, sentence } from "../../ui/format";
import { Empty } from "../../ui/Notice";
import { ToneMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import css from "./AttentionList.module.css";
import { solution } from "./links";

/** What needs a person, as the API ranks it: what it is, since when, and the way to where it is solved. */
export function AttentionList({ items }: { items: readonly Schemas["Attention"][] }) {
  if (items.length === 0) return <Empty title="Nothing needs a person">Failures, late and stuck runs, paused queues, open circuits and silent workers would stand here.</Empty>;
  return (
    <ol className={css["list"]}>
      {items.map((a) => (
        <Item key={[a.kind, a.run, a.flow, a.stage, a.fingerprint, a.queue, a.worker, a.circuit?.name, a.setting, a.replay, a.webhook].join(" ")} a={a} />
      ))}
    </ol>
  );
}

function Item({ a }: { a: Schemas["Attention"] }) {
  const { does, ...to } = solution(a);
  return (
    <li className={css["item"]}>
      <ToneMark tone={a.rank <= 2 ? "failed" : a.rank <= 5 ? "retrying" : "queued"} size={14} />
      <div className={css["body"]}>
        <p className={css["text"]}>{sentence(a.text)}</p>
        <p className={css["foot"]}>
          <Link {...to}>{does}</Link>
          <span>
            {a.count > 1 && `${count(a.count)}${a.at_least ? "+" : ""} · `}
            <Time at={a.since} ago />
          </span>
        </p>
      </div>
    </li>
  );
}
