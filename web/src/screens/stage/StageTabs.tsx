import type { UseQueryResult } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { Panel } from "../../ui/Page";
import { Tabs } from "../../ui/Tabs";
import { FailuresTab } from "./FailuresTab";
import type { Mask } from "./heat/selection";
import { PlanTab } from "./PlanTab";
import { route } from "./route";
import { ShardsTab } from "./ShardsTab";
import css from "./StageScreen.module.css";
import { useSelection, type Selection } from "./useSelection";

const names = ["shards", "failures", "plan"] as const;

/** The lists of a stage: its shards, its failures, and how it came to run. */
export function StageTabs({ detail, status, declared, failures, selection, dead }: { detail: Schemas["RunDetail"]; status: Schemas["StageStatus"]; declared: Schemas["GraphStage"] | undefined; failures: UseQueryResult<Schemas["StageFailureList"]>; selection?: Selection; /** The shards that are dead letters, where they are known. */ dead?: Mask | undefined }) {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const own = useSelection(status.total);
  const held = selection ?? own;
  const sharded = status.kind === "sharded";
  const hasShards = sharded && status.total > 0;
  const failed = failures.data?.items.length ?? 0;
  const first = failed > 0 ? "failures" : hasShards ? "shards" : "plan";
  const shown = names.find((n) => n === tab && (n !== "shards" || hasShards)) ?? first;
  return (
    <Panel flush className={css["tabs"]}>
      <Tabs
        label="Lists of the stage"
        value={shown}
        onChange={(next) => void navigate({ search: (s) => ({ ...s, tab: next }), resetScroll: false })}
        tabs={[
          { value: "failures", label: "Failures", count: failures.data ? failed : undefined },
          ...(hasShards ? [{ value: "shards" as const, label: "Shards", count: status.total }] : []),
          { value: "plan", label: sharded ? "Plan and rule" : "Rule and options" },
        ]}
      />
      {shown === "failures" && <FailuresTab run={detail.run} status={status} failures={failures} selection={held} dead={dead} />}
      {shown === "shards" && <ShardsTab run={detail.run.id} status={status} selected={held.text} />}
      {shown === "plan" && <PlanTab detail={detail} status={status} declared={declared} />}
    </Panel>
  );
}
