import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { backlogSearch, solution, term } from "./links";

const item = (kind: Schemas["Attention"]["kind"], rest: Partial<Schemas["Attention"]> = {}): Schemas["Attention"] => ({ rank: 3, kind, text: "x", count: 1, since: "2026-11-29T11:00:00Z", ...rest });
const run = "01a229c1-0679-759a-90d6-36987bf5cf43";

test("a cell links to the open runs of its queue and level", () => {
  expect(backlogSearch("etl", "P1")).toBe("queue:etl level:P1 state:open");
  expect(backlogSearch("etl")).toBe("queue:etl state:open");
  expect(backlogSearch("my queue")).toBe('queue:"my queue" state:open');
  expect(term('a "b"')).toBe('"a b"');
});

test.each([
  [item("run_stuck", { run, flow: "f" }), { to: "/runs/$run", params: { run }, search: { why: run } }],
  [item("run_late", { flow: "f" }), { to: "/runs", search: { q: "flow:f state:open" } }],
  [item("dead_letters", { flow: "f", stage: "s", fingerprint: "5c" }), { to: "/dead-letters", search: { flow: "f", stage: "s", fingerprint: "5c" } }],
  [item("runs_failed", { flow: "f" }), { to: "/runs", search: { q: "flow:f state:failed since:24h" } }],
  [item("queue_paused", { queue: "etl" }), { to: "/queues", search: { queue: "etl" } }],
  [item("circuit_open", { circuit: { kind: "downstream", name: "warehouse" } }), { to: "/circuits", search: { q: "warehouse" } }],
  [item("worker_silent", { worker: run }), { to: "/workers", search: { worker: run } }],
  [item("worker_silent"), { to: "/workers", search: { q: "silent" } }],
  [item("hold_old", { flow: "f" }), { to: "/flows/$flow", params: { flow: "f" } }],
  [item("replay_stopped", { replay: run }), { to: "/replays", search: { replay: run } }],
  [item("delivery_failing", { webhook: run }), { to: "/webhooks", search: { webhook: run } }],
  [item("switch_off", { setting: "wheel" }), { to: "/settings" }],
  [item("no_leader"), { to: "/workers", search: {} }],
])("%o leads to where it is solved", (a, want) => expect(solution(a)).toMatchObject(want));
