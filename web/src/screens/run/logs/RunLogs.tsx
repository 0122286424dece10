import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { Schemas } from "../../../api/client";
import { LogView } from "../../../logs/LogView";
import { Select } from "../../../ui/Select";

const route = getRouteApi("/runs/$run");

/** What all tasks of a run logged, or those of one stage. */
export default function RunLogs({ detail }: { detail: Schemas["RunDetail"] }): React.ReactNode {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run" });
  const of = detail.stages.some((s) => s.name === search.of) ? search.of : undefined;
  return (
    <LogView
      key={of ?? ""}
      run={detail.run.id}
      stage={of}
      search={search}
      onSearch={({ q, level, line }) => void navigate({ to: ".", search: (s) => ({ ...s, q, level, line }), replace: true })}
      filters={
        <Select
          bare
          label="Stage"
          value={of ?? "*"}
          onChange={(next) => void navigate({ to: ".", search: (s) => ({ ...s, of: next === "*" ? undefined : next, line: undefined }), replace: true })}
          options={[{ value: "*", label: "All stages" }, ...detail.stages.map((s) => ({ value: s.name, label: s.name }))]}
        />
      }
      empty="Handlers log with stage.Log(ctx); what they print goes elsewhere."
    />
  );
}
