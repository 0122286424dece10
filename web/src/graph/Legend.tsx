import { Popover } from "@base-ui/react/popover";
import { Button } from "../ui/Button";
import css from "./Legend.module.css";

const lines: readonly { kind: string; text: string }[] = [
  { kind: "success", text: "waits for success" },
  { kind: "done", text: "waits for the end, however" },
  { kind: "failure", text: "waits for a failure" },
  { kind: "skip", text: "waits for a skip" },
  { kind: "aligned", text: "shard by shard" },
];

/** What boxes and lines of a graph mean. */
export function Legend({ run }: { run: boolean }) {
  return (
    <Popover.Root>
      <Popover.Trigger render={<Button small />}>Legend</Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner side="bottom" align="end" sideOffset={6} className={css["positioner"]}>
          <Popover.Popup className={css["popup"]} aria-label="Legend">
            <ul className={css["list"]}>
              {lines.map((l) => (
                <li key={l.kind}>
                  <svg viewBox="0 0 40 10" width="40" height="10" aria-hidden data-kind={l.kind}>
                    {l.kind === "aligned" && <path d="M0 5H40" data-part="wide" />}
                    <path d="M0 5H40" />
                  </svg>
                  {l.text}
                </li>
              ))}
              <li>
                <span className={css["box"]} data-look="sharded" /> many shards
              </li>
              <li>
                <span className={css["box"]} data-look="child" /> a sub-flow’s run
              </li>
              <li>
                <span className={css["box"]} data-look="conditional" /> runs if its condition holds
              </li>
              <li>
                <span className={css["box"]} data-look="teardown" /> teardown
              </li>
            </ul>
            <p className={css["text"]}>
              {run && "Lines have the colour of what they come from. "}Hover a line for its rule. Arrow keys walk along lines, Enter selects, F fits. A dot stands where several stages wait for the same upstreams; lines that follow from others
              are drawn when you look at one of their ends.
            </p>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
