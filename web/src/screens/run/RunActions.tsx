import { Link } from "@tanstack/react-router";
import { useRunActs } from "../../acts/useRunActs";
import type { Schemas } from "../../api/client";
import { Button, buttonClass } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { Menu } from "../../ui/Menu";

/** What can be done to a run: the likely acts as buttons, the others in a menu. */
export function RunActions({ detail }: { detail: Schemas["RunDetail"] }) {
  const { run, stages } = detail;
  const items = useRunActs(run, stages);
  // The acts by their names in the menu: a run that is paused wants to go on, one that has failed wants to be tried again.
  const likely = items.filter((i) => !i.disabled && (i.name === "Resume" || (i.name === "Retry failed" && run.state !== "succeeded") || i.name === "Cancel" || i.name === "Cancel by force"));
  const first = run.state === "failed" ? "Retry failed" : run.paused ? "Resume" : undefined;
  return (
    <>
      {likely.map((i) => (
        <Button key={i.name} kind={i.name === first ? "primary" : i.kind === "danger" ? "danger" : "plain"} onClick={i.onSelect}>
          {i.name}
        </Button>
      ))}
      <Link className={buttonClass} to="/flows/$flow/start" params={{ flow: run.flow }} search={{ again: run.id }} title="Start it again, with other params">
        Again…
      </Link>
      <Link className={buttonClass} to="/runs/$run/compare" params={{ run: run.id }} title="Compare with the newest run before this one that succeeded">
        Compare
      </Link>
      <Menu label="More acts on this run" trigger="Acts" items={items} />
      <Copy text={() => window.location.href} what="link to this view" />
    </>
  );
}
