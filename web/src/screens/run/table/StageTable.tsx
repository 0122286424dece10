import { Empty } from "../../../ui/Notice";
import type { ViewProps } from "../view";

/** Every stage of a run with its counts and times. */
export default function StageTable(_: ViewProps) {
  return <Empty title="This view is being built" />;
}
