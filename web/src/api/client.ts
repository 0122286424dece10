import createClient from "openapi-fetch";
import type { components, paths } from "./schema";
import { token } from "./token";

/** The schemas of openapi.yaml by name, such as `Schemas["Run"]`. */
export type Schemas = components["schemas"];

/** What the API says when it refuses (RFC 9457), or why it could not be asked. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly problem: Schemas["Problem"];
  constructor(problem: Schemas["Problem"]) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
  }
  /** What is wrong with each field, by JSON pointer into the body or by parameter. */
  get fields(): ReadonlyMap<string, string> {
    return new Map(this.problem.errors?.map((e) => [e.field, e.detail]));
  }
}

/** The problem that stands for "the server did not answer". */
export const unreachable: Schemas["Problem"] = {
  type: "about:blank",
  title: "The server does not answer",
  status: 0,
  code: "unavailable",
  detail: "The server does not answer. It is tried again by itself.",
};

/**
 * The API. Every call resolves to `{data}` or rejects with a `Refusal` if passed through `answer`. It sends the token of this tab, if
 * somebody pasted one; else the browser sends the session's cookie by itself.
 */
export const api = createClient<paths>({ baseUrl: "/" });

api.use({
  onRequest({ request }) {
    const t = token.get();
    if (t) request.headers.set("Authorization", `Bearer ${t}`);
    return request;
  },
});

/**
 * Waits for a call of `api` and returns what the API answered.
 * It throws a `Refusal` in every other case, the network's failures included.
 */
export async function answer<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let result;
  try {
    result = await call;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new Refusal(unreachable);
  }
  if (result.response.ok) {
    // An answer without a body (204) has no data; its T is undefined.
    return result.data as T;
  }
  throw new Refusal(isProblem(result.error) ? result.error : fallback(result.response));
}

function isProblem(value: unknown): value is Schemas["Problem"] {
  return typeof value === "object" && value !== null && "code" in value && "title" in value;
}

function fallback(response: Response): Schemas["Problem"] {
  return { ...unreachable, status: response.status, detail: `The server answered ${response.status} ${response.statusText}.` };
}
