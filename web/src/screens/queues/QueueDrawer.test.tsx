import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Schemas } from "../../api/client";
import { QueueDrawer } from "./QueueDrawer";

const queue: Schemas["Queue"] = {
  name: "etl", configured: true, capacity: 1000, concurrency: 40, alert_at: 0.6, refuse_at: 0.8, pause_at: 0.95, resume_at: 0.4, core_level: "P1", low_level: "P3", version: 7,
  ready: 5, running: 40, in_flight: 41, oldest_s: 12, depth: 45, pressure: "normal",
};

// The client keeps the fetch that is there when it is loaded, so the server that stands in for the real one comes before.
const server = vi.hoisted(() => {
  const it = { asked: [] as unknown[], reply: (): Response => new Response(null, { status: 500 }) };
  globalThis.fetch = async (input) => {
    if (input instanceof Request && input.method === "PUT") {
      it.asked.push(await input.json());
      return it.reply();
    }
    return Response.json({ actor: "local:ada", namespace: "default", role: "operator", permissions: ["fleet:read", "fleet:operate"], via: "local" });
  };
  return it;
});

beforeEach(() => {
  server.asked.length = 0;
});
afterEach(cleanup);

const problem = (status: number, code: string, detail: string, errors?: { field: string; detail: string }[]) =>
  new Response(JSON.stringify({ type: "x", title: "No", status, code, detail, ...(errors ? { errors } : {}) }), { status, headers: { "Content-Type": "application/problem+json" } });

/** Draws the drawer within a router, which its links need. */
async function draw() {
  const root = createRootRoute({ component: () => <QueueDrawer name="etl" queue={queue} onClose={() => {}} /> });
  const router = createRouter({ routeTree: root, history: createMemoryHistory({ initialEntries: ["/"] }) });
  render(
    <QueryClientProvider client={new QueryClient()}>
      {/* The test's router is not the page's, which the types know. */}
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByRole("form", { name: "Settings of queue etl" });
}

test("saving is asked about with the version that was read, and a fault stands at its field", async () => {
  server.reply = () => problem(422, "invalid", "queue \"etl\": the capacity is too great", [{ field: "/capacity", detail: "the capacity is too great" }]);
  await draw();
  const save = screen.getByRole("button", { name: "Save…" });
  expect(save).toHaveProperty("disabled", true);
  const capacity = screen.getByRole("textbox", { name: "Capacity" });
  fireEvent.change(capacity, { target: { value: "2000" } });
  fireEvent.click(save);
  await screen.findByText("the capacity is too great");
  expect(capacity.getAttribute("aria-invalid")).toBe("true");
  expect(server.asked).toEqual([{ capacity: 2000, concurrency: 40, version: 7, dry_run: true }]);
});

test("what somebody else has changed meanwhile is told, and can be taken over", async () => {
  server.reply = () => problem(409, "conflict", "queue etl is at version 8, not 7");
  await draw();
  const concurrency = screen.getByRole("textbox", { name: "Concurrency" });
  fireEvent.change(concurrency, { target: { value: "400" } });
  fireEvent.click(screen.getByRole("button", { name: "Save…" }));
  await screen.findByText(/Somebody else has changed this queue/);
  expect(screen.getByRole("button", { name: "Save…" })).toHaveProperty("disabled", true);
  fireEvent.click(screen.getByRole("button", { name: "Take over what is there now" }));
  expect(concurrency).toHaveProperty("value", "40");
});
