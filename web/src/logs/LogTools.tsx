import { Button } from "../ui/Button";
import { Copy } from "../ui/Copy";
import { count } from "../ui/format";
import { SearchField } from "../ui/SearchField";
import { Segmented } from "../ui/Segmented";
import { Switch } from "../ui/Switch";
import { lineText, type Level, type Line } from "./lines";
import css from "./LogView.module.css";

interface Props {
  filters: React.ReactNode;
  list: readonly Line[];
  /** For the file's name. */
  name: string;
  level: Level;
  onLevel: (level: Level) => void;
  find: string;
  onFind: (text: string) => void;
  found: number;
  /** Which of the lines that were found is shown; 0 is none. */
  hitNumber: number;
  onStep: (by: 1 | -1) => void;
  wrap: boolean;
  onWrap: (wrap: boolean) => void;
}

/** What stands above a log: filters, search, and what can be done with the lines. */
export function LogTools({ filters, list, name, level, onLevel, find, onFind, found, hitNumber, onStep, wrap, onWrap }: Props) {
  const text = () => list.map(lineText).join("\n") + "\n";
  return (
    <div className={css["tools"]}>
      {filters}
      <Segmented
        label="Least level"
        value={level}
        onChange={onLevel}
        options={[
          { value: "debug", label: "All" },
          { value: "info", label: "Info" },
          { value: "warn", label: "Warn" },
          { value: "error", label: "Error" },
        ]}
      />
      <SearchField
        label="Search the log"
        value={find}
        onChange={onFind}
        width={240}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          onStep(event.shiftKey ? -1 : 1);
        }}
      />
      <span className={css["found"]} role="status">
        {find !== "" && (found === 0 ? "not found" : hitNumber > 0 ? `${count(hitNumber)} of ${count(found)}` : `${count(found)} found`)}
      </span>
      <Button small aria-label="Previous hit" title="Previous (Shift-Enter)" disabled={found === 0} onClick={() => onStep(-1)}>
        ↑
      </Button>
      <Button small aria-label="Next hit" title="Next (Enter)" disabled={found === 0} onClick={() => onStep(1)}>
        ↓
      </Button>
      <span className={css["right"]}>
        <Switch label="Wrap" checked={wrap} onChange={onWrap} />
        <Copy text={text} what="all lines">
          Copy
        </Copy>
        <Button small disabled={list.length === 0} onClick={() => save(text(), `${name}.log`)}>
          Download
        </Button>
      </span>
    </div>
  );
}

function save(text: string, file: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
