import { linkOptions } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";

type Attention = Schemas["Attention"];

/** The open runs with work in a queue, of one level or of all. */
export const backlogSearch = (queue: string, level?: Schemas["Level"]): string => `queue:${term(queue)} ${level ? `level:${level} ` : ""}state:open`;

/** A value of a search: quoted where it has spaces. */
export const term = (value: string): string => (/[\s"]/.test(value) ? `"${value.replaceAll('"', "")}"` : value);

const link = {
  run: (run: string) => linkOptions({ to: "/runs/$run", params: { run } }),
  runs: (q: string) => linkOptions({ to: "/runs", search: { q } }),
  queue: (queue: string | undefined) => linkOptions({ to: "/queues", search: queue ? { queue } : {} }),
  worker: (worker: string | undefined, q?: string) => linkOptions({ to: "/workers", search: worker ? { worker } : q ? { q } : {} }),
};

/** Where something that needs a person is solved, and what is done there. */
export function solution(a: Attention) {
  switch (a.kind) {
    case "no_leader":
      return { does: "See the workers", ...link.worker(undefined) };
    case "no_workers":
      return { does: "See the workers", ...link.worker(undefined) };
    case "switch_off":
      return { does: "Open the settings", ...linkOptions({ to: "/settings" }) };
    case "run_stuck":
    case "run_late":
      if (a.run) return { does: a.kind === "run_late" ? "See why it is late" : "See why it is stuck", ...linkOptions({ to: "/runs/$run", params: { run: a.run }, search: { why: a.run } }) };
      return { does: "See the runs", ...link.runs(a.flow ? `flow:${term(a.flow)} state:open` : "state:open") };
    case "worker_silent":
      return { does: "See the worker", ...link.worker(a.worker, "silent") };
    case "worker_draining":
      return { does: "See the worker", ...link.worker(a.worker, "draining") };
    case "circuit_open":
      return { does: "See the circuit", ...linkOptions({ to: "/circuits", search: a.circuit ? { q: a.circuit.name } : {} }) };
    case "queue_paused":
    case "queue_pressure":
      return { does: "Open the queue", ...link.queue(a.queue) };
    case "dead_letters":
      return {
        does: "See the dead letters",
        ...linkOptions({
          to: "/dead-letters",
          search: { ...(a.flow ? { flow: a.flow } : {}), ...(a.stage ? { stage: a.stage } : {}), ...(a.fingerprint ? { fingerprint: a.fingerprint } : {}) },
        }),
      };
    case "replay_stopped":
      return { does: "See the replay", ...linkOptions({ to: "/replays", search: a.replay ? { replay: a.replay } : {} }) };
    case "runs_failed":
      return { does: "See the failed runs", ...link.runs(`${a.flow ? `flow:${term(a.flow)} ` : ""}state:failed since:24h`) };
    case "hold_old":
      if (a.run) return { does: "See the run", ...link.run(a.run) };
      if (a.flow) return { does: "Open the flow", ...linkOptions({ to: "/flows/$flow", params: { flow: a.flow } }) };
      return { does: "Open the queue", ...link.queue(a.queue) };
    case "delivery_failing":
      return { does: "See the webhook", ...linkOptions({ to: "/webhooks", search: a.webhook ? { webhook: a.webhook } : {} }) };
  }
}
