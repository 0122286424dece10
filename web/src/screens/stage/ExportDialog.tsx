import { useEffect, useRef, useState } from "react";
import { answer, api } from "../../api/client";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { count, plural } from "../../ui/format";
import { Segmented } from "../../ui/Segmented";
import { csvOf, cutSet, jsonOf, lineOf, type Line } from "./export";
import css from "./ExportDialog.module.css";

/** The most characters of a set in one question (openapi.yaml, listShards). */
const mostText = 4000;

/** Writes shards into a file: it reads them page by page, says how far it is, and can be cancelled. */
export function ExportDialog({ run, stage, set, total, onClose }: { run: string; stage: string; set: string; total: number; onClose: () => void }) {
  const [format, setFormat] = useState<"csv" | "json">("csv");
  const [done, setDone] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);

  const write = async () => {
    const control = new AbortController();
    abort.current = control;
    setProblem(undefined);
    setDone(0);
    const lines: Line[] = [];
    try {
      for (const part of cutSet(set, mostText)) {
        let cursor: string | undefined;
        do {
          const page = await answer(
            api.GET("/api/v1/runs/{run}/stages/{stage}/shards", { params: { path: { run, stage }, query: { indices: part, limit: 1000, ...(cursor === undefined ? {} : { cursor }) } }, signal: control.signal }),
          );
          for (const item of page.items) lines.push(lineOf(item));
          setDone(lines.length);
          cursor = page.next_cursor;
        } while (cursor !== undefined);
      }
      save(`${stage}-${run.slice(-12)}.${format}`, format === "csv" ? csvOf(lines) : jsonOf(lines), format === "csv" ? "text/csv" : "application/json");
      onClose();
    } catch (error) {
      if (!control.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
      setDone(undefined);
    }
  };
  const stop = () => {
    abort.current?.abort();
    setDone(undefined);
  };
  const busy = done !== undefined;
  return (
    <Dialog
      size="small"
      title={`Export ${plural(total, "shard")}`}
      description="A file with the index, key, state, attempt, duration, worker and error of each."
      keep={busy}
      onClose={onClose}
      footer={
        <>
          <Button onClick={busy ? stop : onClose}>{busy ? "Stop" : "Leave it"}</Button>
          <Button kind="primary" disabled={busy} onClick={() => void write()}>
            {busy ? "Reading…" : "Export"}
          </Button>
        </>
      }
    >
      <div className={css["body"]}>
        <Segmented label="Format" value={format} onChange={setFormat} options={[{ value: "csv", label: "CSV", disabled: busy }, { value: "json", label: "JSON", disabled: busy }]} />
        {busy && (
          <>
            <progress max={Math.max(1, total)} value={done} aria-label="Shards read" />
            <span role="status">
              {count(done)} of {count(total)}
            </span>
          </>
        )}
        {problem && <p role="alert">{problem} Nothing was written: try again.</p>}
      </div>
    </Dialog>
  );
}

function save(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
