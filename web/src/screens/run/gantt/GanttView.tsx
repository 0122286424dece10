import { Empty } from "../../../ui/Notice";
import type { ViewProps } from "../view";

/** When each stage of a run waited, was queued, ran and backed off. */
export default function GanttView(_: ViewProps) {
  return <Empty title="This view is being built" />;
}
