import { memo } from "react";
import css from "./StageNode.module.css";

/** A point at which many upstreams meet before many stages. */
export const JointNode = memo(function JointNode() {
  return <span className={css["joint"]} />;
});
