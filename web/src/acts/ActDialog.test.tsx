import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, configure, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keys } from "../api/keys";
import { ActDialog } from "./ActDialog";
import { runAct } from "./requests";

// The API's client takes fetch when it is made, which is before any test runs.
const net = vi.hoisted(() => {
  const answer: { fetch: (request: Request) => Promise<Response> } = { fetch: () => Promise.reject(new TypeError("no network")) };
  globalThis.fetch = (request) => answer.fetch(request as Request); // openapi-fetch passes nothing else
  return answer;
});

// With a busy machine the widgets of a dialog take their time.
vi.setConfig({ testTimeout: 60_000 });
configure({ asyncUtilTimeout: 20_000 });

const run = "01937f2e-5b7e-7cc3-98c4-dc0c0c07398f";

/** What the API was asked, and what it answers next. */
let asked: { url: string; body: Record<string, unknown> }[] = [];
let answers: (body: Record<string, unknown>) => { status: number; body: unknown };

beforeEach(() => {
  asked = [];
  sessionStorage.clear();
  answers = (body) => ({ status: 200, body: { dry_run: body["dry_run"], touched: [{ run, what: "is cancelled" }, { run, stage: "load", shards: "0-9", tasks: 10, what: "stops" }] } });
  net.fetch = async (request) => {
    const body: Record<string, unknown> = JSON.parse(await request.text());
    asked.push({ url: new URL(request.url).pathname, body });
    const a = answers(body);
    return new Response(JSON.stringify(a.body), { status: a.status, headers: { "Content-Type": a.status < 300 ? "application/json" : "application/problem+json" } });
  };
});

afterEach(cleanup);

function show(verb: "cancel" | "level", onClose = vi.fn<() => void>()) {
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  cache.setQueryData(keys.run(run), { old: true });
  render(
    <QueryClientProvider client={cache}>
      <ActDialog {...runAct(run, verb)} onClose={onClose} />
    </QueryClientProvider>,
  );
  return { cache, onClose };
}

const refusal = { type: "x", title: "Its state does not allow it", status: 409, code: "conflict", detail: "run 01937f2e has succeeded already" };
const doIt = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name });

test("it asks first, then does what was asked about, with the reason", async () => {
  const { cache, onClose } = show("cancel");
  await screen.findByText("stops");
  expect(screen.getByText("1 stage, 10 shards")).toBeTruthy();
  expect(screen.getByText("load · shards 0-9 (10)")).toBeTruthy();
  expect(asked).toEqual([{ url: `/api/v1/runs/${run}/acts/cancel`, body: { dry_run: true } }]);
  await userEvent.type(screen.getByLabelText(/^Reason/), "  wrong input ");
  await userEvent.click(doIt("Cancel"));
  await waitFor(() => expect(onClose).toHaveBeenCalledTimes(1));
  expect(asked).toHaveLength(2);
  expect(asked[1]?.body).toEqual({ dry_run: false, reason: "wrong input" });
  expect(cache.getQueryState(keys.run(run))?.isInvalidated).toBe(true);
  expect(sessionStorage.getItem("ax.reasons")).toBe('["wrong input"]');
});

test("by force is asked about anew", async () => {
  show("cancel");
  await screen.findByText("stops");
  await userEvent.click(screen.getByRole("checkbox", { name: "By force" }));
  await waitFor(() => expect(asked.at(-1)?.body).toEqual({ dry_run: true, force: true }));
});

test("nothing to do is said, and cannot be done", async () => {
  answers = () => ({ status: 200, body: { dry_run: true, touched: [] } });
  show("cancel");
  await screen.findByText(/Nothing to do/);
  expect(doIt("Cancel").disabled).toBe(true);
});

test("what the server refuses is said in its words, and cannot be done", async () => {
  answers = () => ({ status: 409, body: refusal });
  show("cancel");
  await screen.findByText(refusal.detail);
  expect(doIt("Cancel").disabled).toBe(true);
});

test("a refusal of the act itself keeps the dialog and what was typed", async () => {
  const { onClose } = show("cancel");
  await screen.findByText("stops");
  answers = () => ({ status: 409, body: refusal });
  await userEvent.type(screen.getByLabelText(/^Reason/), "x");
  await userEvent.click(doIt("Cancel"));
  await screen.findByText(refusal.detail);
  expect(onClose).not.toHaveBeenCalled();
  expect(screen.getByLabelText<HTMLInputElement>(/^Reason/).value).toBe("x");
});

test("a question that fails does not keep an operator from acting", async () => {
  answers = () => ({ status: 500, body: { type: "x", title: "A fault", status: 500, code: "internal", detail: "something broke" } });
  const { onClose } = show("cancel");
  await screen.findByText("something broke");
  answers = () => ({ status: 200, body: { dry_run: false, touched: [{ run, what: "is cancelled" }] } });
  await userEvent.click(doIt("Cancel"));
  await waitFor(() => expect(onClose).toHaveBeenCalledTimes(1));
});

test("what is missing is asked for before the server is", async () => {
  show("level");
  expect(screen.getByText("Choose a level first.")).toBeTruthy();
  expect(doIt("Set level").disabled).toBe(true);
  expect(asked).toEqual([]);
  await userEvent.click(screen.getByRole("radio", { name: "P0" }));
  await screen.findByText("stops");
  expect(asked).toEqual([{ url: `/api/v1/runs/${run}/acts/level`, body: { dry_run: true, level: "P0" } }]);
});
