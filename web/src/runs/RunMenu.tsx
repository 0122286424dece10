import { useNavigate } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { useRunActs } from "../acts/useRunActs";
import { Button } from "../ui/Button";
import { copyText } from "../ui/copyText";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { useToast } from "../ui/toast";

/** What can be done with a run of a list. `.` opens it for the row with the focus. */
export function RunMenu({ run }: { run: Schemas["Run"] }) {
  const acts = useRunActs(run);
  const go = useNavigate();
  const toast = useToast();
  const copy = async (text: string, what: string) => toast((await copyText(text)) ? { title: `Copied ${what}` } : { title: `Could not copy ${what}`, kind: "bad" });
  return (
    <Menu
      label={`Acts on run ${run.id}`}
      trigger={
        <Button kind="quiet" small data-row-menu tabIndex={-1}>
          <Icon name="more" />
        </Button>
      }
      items={[
        { name: "Open", onSelect: () => void go({ to: "/runs/$run", params: { run: run.id } }) },
        { name: run.finished_at === undefined ? "Why is it not done?" : "Why did it end so?", onSelect: () => void go({ to: ".", search: (s: object) => ({ ...s, why: run.id }) }) },
        { name: "Start again with changes", onSelect: () => void go({ to: "/flows/$flow/start", params: { flow: run.flow }, search: { again: run.id } }) },
        { name: "Copy id", onSelect: () => void copy(run.id, "the run’s id") },
        ...acts.map((item, i) => (i === 0 ? { ...item, separate: true } : item)),
      ]}
    />
  );
}
