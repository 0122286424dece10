import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { buttonClass } from "../../ui/Button";
import { Empty } from "../../ui/Notice";
import { Panel } from "../../ui/Page";

/** What stands in the place of the map while there are no shards: why there are none, and what comes. */
export function NoShards({ run, status, upstreams }: { run: string; status: Schemas["StageStatus"]; upstreams: readonly string[] }) {
  const [title, text] = words(status, upstreams);
  return (
    <Panel>
      <Empty
        title={title}
        action={
          status.state === "planning" && (
            <Link className={buttonClass} to="/runs/$run/stages/$stage/shards/$shard" params={{ run, stage: status.name, shard: "-1" }}>
              Open the plan
            </Link>
          )
        }
      >
        {text}
      </Empty>
    </Panel>
  );
}

function words(status: Schemas["StageStatus"], upstreams: readonly string[]): [title: string, text: string] {
  if (status.total === 0) return ["No shards", `The plan returned no shards, so there was nothing to do, and the stage ${status.state === "skipped" ? "was skipped" : "has succeeded"}.`];
  switch (status.state) {
    case "planning":
      return ["The plan is being made", "Its task finds out which shards there are. They are shown here as soon as it returns."];
    case "waiting":
      return ["The stage waits", upstreams.length > 0 ? `It waits for ${upstreams.join(", ")}. Its shards are planned when its trigger rule lets it run.` : "It is planned as soon as the run starts."];
    case "skipped":
      return ["The stage was skipped", `${status.reason ? `${status.reason}. ` : ""}Its plan never ran, so it has no shards.`];
    case "upstream_failed":
      return ["An upstream stage failed", "The trigger rule did not let this one run, so it has no shards. Retry what failed, and it runs after it."];
    case "cancelled":
    case "cancelling":
      return ["The stage was cancelled", "That was before its plan returned, so it has no shards. Rerun it to run it after all."];
    case "failed":
      return ["The plan failed", "Without a plan there are no shards. Its error stands under Failures; Retry failed runs the plan again."];
    default:
      return ["No shards yet", "They are shown here as soon as the plan returns."];
  }
}
