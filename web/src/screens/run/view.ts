import type { Schemas } from "../../api/client";

/** What each of a run's three views gets: they show the same and share one selection. */
export interface ViewProps {
  /** The run with its stages, kept up to date by the stream. */
  detail: Schemas["RunDetail"];
  /** The flow in the run's version. */
  flow: Schemas["Flow"];
  /** The stage that is selected, in every view alike. */
  selected: string | undefined;
  /** Selects a stage, or none. */
  onSelect: (stage: string | undefined) => void;
}
