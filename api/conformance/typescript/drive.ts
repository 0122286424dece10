// Drives a run with a client that another generator than ours made of openapi.yaml: what a user of another language meets.
// It prints what it saw as one JSON document; the Go test beside it knows what that must be.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.d.ts";

const env = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
};

const client = createClient<paths>({
  baseUrl: env("AX_URL"),
  headers: { Authorization: `Bearer ${env("AX_TOKEN")}` },
});

const good = <T>(what: string, answer: { data?: T; error?: components["schemas"]["Problem"]; response: Response }): T => {
  if (answer.error !== undefined || answer.data === undefined) {
    throw new Error(`${what}: ${answer.response.status} ${JSON.stringify(answer.error)}`);
  }
  return answer.data;
};

const flow = env("AX_FLOW");
const key = "driven-by-typescript";

const me = good("me", await client.GET("/api/v1/me"));
const body: components["schemas"]["NewRun"] = { flow, params: { rows: 10 }, key, tags: { by: "typescript" }, level: "P1" };
const first = good("start", await client.POST("/api/v1/runs", { body }));
const again = good("start again", await client.POST("/api/v1/runs", { body }));
const run = first.run;
if (!run) throw new Error("the start names no run");

let result: components["schemas"]["RunResult"];
do {
  result = good("result", await client.GET("/api/v1/runs/{run}/result", { params: { path: { run }, query: { wait_s: 5 } } }));
} while (!result.ended);

const detail = good("get", await client.GET("/api/v1/runs/{run}", { params: { path: { run } } }));
const found = good("list", await client.GET("/api/v1/runs", { params: { query: { q: `flow:${flow} tag:by=typescript state:succeeded` } } }));
const sharded = detail.stages.find((s) => s.kind === "sharded");
if (!sharded) throw new Error("there is no sharded stage");
const shards = good(
  "shards",
  await client.GET("/api/v1/runs/{run}/stages/{stage}/shards", { params: { path: { run, stage: sharded.name }, query: { limit: 2 } } }),
);
const wrong = await client.POST("/api/v1/runs", { body: { flow, params: { rows: "ten" } } });
const cancelled = await client.POST("/api/v1/runs/{run}/acts/{verb}", {
  params: { path: { run, verb: "cancel" } },
  body: { reason: "it has ended" },
});

console.log(
  JSON.stringify({
    role: me.role,
    sameRun: again.run === run && again.existing && !first.existing,
    state: result.state,
    outputs: result.outputs,
    stages: detail.stages.map((s) => [s.name, s.state, s.succeeded, s.total]),
    found: found.items.map((r) => r.id === run),
    shards: shards.items.map((s) => [s.index, s.state]),
    more: shards.next_cursor !== undefined,
    wrong: [wrong.response.status, wrong.error?.code, wrong.error?.errors?.map((e) => e.field)],
    cancelled: [cancelled.response.status, cancelled.error?.code],
  }),
);
