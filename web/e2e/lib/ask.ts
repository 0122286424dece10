import type { components } from "../../src/api/schema";

type Schemas = components["schemas"];

let here = (): string => {
  throw new Error("which program?");
};

/** Says where the program is that is asked unless another is named. */
export function askAt(base: () => string): void {
  here = base;
}

/** Asks the API directly: journeys prepare with it, and see with it whether what the page said is true. */
export async function ask<T>(path: string, body?: unknown, base = here()): Promise<T> {
  const response = await fetch(base + path, body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T; // what the document says of the path, which the caller names
}

/** The newest run that a search finds, by its id. */
export async function newest(q: string, base = here()): Promise<string> {
  const list = await ask<Schemas["RunList"]>(`/api/v1/runs?limit=1&q=${encodeURIComponent(q)}`, undefined, base);
  const id = list.items[0]?.id;
  if (!id) throw new Error(`no run matches ${q}`);
  return id;
}

/** Starts a run and returns its id. It goes before what the demo has going, so that journeys need not wait for that. */
export async function startRun(flow: string, params: unknown, base = here()): Promise<string> {
  const started = await ask<Schemas["StartedRun"]>("/api/v1/runs", { flow, params, level: "P0" }, base);
  if (!started.run) throw new Error(`${flow} was not started`);
  return started.run;
}

/** Waits until a run is in one of these states. */
export async function reaches(run: string, ...states: Schemas["RunState"][]): Promise<Schemas["RunDetail"]> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const detail = await ask<Schemas["RunDetail"]>(`/api/v1/runs/${run}`);
    if (states.includes(detail.run.state)) return detail;
    if (Date.now() > deadline) throw new Error(`run ${run} is ${detail.run.state} after a minute, not ${states.join(" or ")}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
