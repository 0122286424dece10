import { Link } from "@tanstack/react-router";
import { whyOf } from "./target";

/** A link that opens the drawer about a run, a stage or a shard, on the screen that one is on. */
export function WhyLink({ run, stage, shard, children }: { run: string; stage?: string | undefined; shard?: number | undefined; children: React.ReactNode }) {
  const why = whyOf({ run, ...(stage === undefined ? {} : { stage }), ...(shard === undefined ? {} : { shard }) });
  return (
    <Link to="." search={(s: Record<string, unknown>) => ({ ...s, why })}>
      {children}
    </Link>
  );
}
