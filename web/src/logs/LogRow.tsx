import { memo, use } from "react";
import { Copy } from "../ui/Copy";
import { Icon } from "../ui/Icon";
import { KeyValues } from "../ui/KeyValues";
import { plural, shortId } from "../ui/format";
import { absolute, ZoneContext } from "../ui/zone";
import { pieces } from "./find";
import { attributesText, attributeText, lineText, type Line } from "./lines";
import css from "./LogView.module.css";
import { timeOf } from "./timeOf";

interface Props {
  line: Line;
  find: string;
  /** The address points at it, or the search has come to it. */
  marked: "line" | "hit" | undefined;
  open: boolean;
  /** Say of which task it is. */
  tasks: boolean;
  onToggle: (key: string) => void;
  onMark: (key: string) => void;
}

/** A line: time, level, task, message and attributes; opened, all of it. */
export const LogRow = memo(function LogRow({ line, find, marked, open, tasks, onToggle, onMark }: Props) {
  const { zone } = use(ZoneContext);
  const attributes = attributesText(line);
  return (
    <>
      {line.dropped !== undefined && line.dropped > 0 && <div className={css["dropped"]}>{plural(line.dropped, "line")} dropped here: the task logged faster than is kept</div>}
      <div className={css["line"]} data-level={line.level} data-marked={marked}>
        <button type="button" className={css["more"]} aria-expanded={open} aria-label={open ? "Close the line" : "Open the line"} tabIndex={-1} onClick={() => onToggle(line.key)}>
          <Icon name={open ? "down" : "right"} size={10} />
        </button>
        <button type="button" className={css["at"]} title={`${absolute(new Date(line.at), zone)}: click for a link to this line`} tabIndex={-1} onClick={() => onMark(line.key)}>
          {timeOf(line.at, zone)}
        </button>
        <span className={css["level"]}>{line.level}</span>
        {tasks && (
          <span className={css["task"]} title={`stage ${line.stage}, shard ${line.shard}, attempt ${line.attempt}`}>
            {line.stage}[{line.shard}]{line.attempt > 1 && ` #${line.attempt}`}
          </span>
        )}
        <span className={css["text"]}>
          <Marked text={line.message} find={find} />
          {attributes && (
            <span className={css["attributes"]}>
              {" "}
              <Marked text={attributes} find={find} />
            </span>
          )}
        </span>
      </div>
      {open && (
        <div className={css["opened"]}>
          <KeyValues
            items={[
              { name: "Time", value: absolute(new Date(line.at), zone) },
              { name: "Task", value: `${line.stage}, shard ${line.shard}, attempt ${line.attempt}${line.generation === undefined ? "" : `, generation ${line.generation}`}` },
              line.worker !== undefined && { name: "Worker", value: <code title={line.worker}>{shortId(line.worker)}</code> },
              line.execution !== undefined && { name: "Execution", value: <code title={line.execution}>{shortId(line.execution)}</code> },
              ...Object.entries(line.attributes ?? {}).map(([name, value]) => ({ name, value: <code>{attributeText(value)}</code> })),
            ]}
          />
          <Copy text={() => lineText(line)} what="line">
            Copy line
          </Copy>
        </div>
      )}
    </>
  );
});

function Marked({ text, find }: { text: string; find: string }) {
  if (find === "") return text;
  return pieces(text, find).map((p) => (p.hit ? <mark key={p.at}>{p.text}</mark> : p.text));
}
