import type { Schemas } from "../../api/client";
import { diff, type Difference } from "../../ui/jsondiff";

type Stage = Schemas["GraphStage"];

/** What became of a stage from one version of a flow to another. */
export interface StageChange {
  name: string;
  kind: "added" | "removed" | "changed";
  /** Of a stage that changed: by the names of its fields, such as `/retry/max_attempts`. */
  fields: Difference[];
}

/** The stages that differ between two versions, in the order of the newer, what was removed last. */
export function stageChanges(before: readonly Stage[], after: readonly Stage[]): StageChange[] {
  const old = new Map(before.map((s) => [s.name, s]));
  const now = new Set(after.map((s) => s.name));
  return [
    ...after.flatMap((s): StageChange[] => {
      const was = old.get(s.name);
      if (!was) return [{ name: s.name, kind: "added", fields: [] }];
      const fields = diff(was, s);
      return fields.length > 0 ? [{ name: s.name, kind: "changed", fields }] : [];
    }),
    ...before.filter((s) => !now.has(s.name)).map((s): StageChange => ({ name: s.name, kind: "removed", fields: [] })),
  ];
}

/** A value of a stage's field as text. */
export const fieldText = (value: unknown): string => (typeof value === "string" ? value : Array.isArray(value) ? value.map(fieldText).join(", ") || "none" : JSON.stringify(value));
