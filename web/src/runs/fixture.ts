import type { Schemas } from "../api/client";

/** A run for tests. */
export const aRun = (over: Partial<Schemas["Run"]> = {}): Schemas["Run"] => ({
  id: "01937f2e-5b7e-7cc3-98c4-dc0c0c07398f",
  flow: "recon",
  version: "ab12cd34ef56ab78",
  state: "running",
  level: "P2",
  queue: "default",
  trigger: "api",
  created_at: "2026-11-29T11:59:00Z",
  etag: 1,
  ...over,
});
