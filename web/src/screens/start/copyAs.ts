import { isObject, print, type Json } from "../../params/json";

/** A start as the API takes it, without what only the page adds. */
export interface Start {
  flow: string;
  params: Json;
  level?: string;
  queue?: string;
  key?: string;
  tags?: Readonly<Record<string, string>>;
  delay_s?: number;
  start_at?: string;
}

/** What stands in copies where a secret was typed. */
export const secretPlace = "<secret>";

/** A text as one word of a POSIX shell, whatever is in it. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/u.test(text) && /^[\x21-\x7e]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** The start as the body of a request. */
export function bodyText(start: Start, more: Readonly<Record<string, Json>> = {}): string {
  const { flow, params, level, queue, key, tags, delay_s, start_at } = start;
  const body: Record<string, Json> = { flow, params };
  if (level) body["level"] = level;
  if (queue) body["queue"] = queue;
  if (key) body["key"] = key;
  if (tags && Object.keys(tags).length > 0) body["tags"] = tags;
  if (delay_s) body["delay_s"] = delay_s;
  if (start_at) body["start_at"] = start_at;
  return print({ ...body, ...more });
}

/** The start as a curl command. The token is read from AX_TOKEN when it runs; `auth` false leaves it out, for servers that ask for none. */
export function asCurl(start: Start, origin: string, auth: boolean): string {
  return [
    `curl --fail-with-body -X POST ${shellWord(`${origin}/api/v1/runs`)}`,
    ...(auth ? [`-H "Authorization: Bearer $AX_TOKEN"`] : []),
    `-H 'Content-Type: application/json'`,
    `--data-raw ${shellWord(bodyText(start))}`,
  ].join(" \\\n  ");
}

/** The start as an ax command, which takes its token from AX_TOKEN by itself. */
export function asAx(start: Start, origin: string): string {
  const flag = (name: string, value: string | undefined): string[] => (value ? [`--${name}=${shellWord(value)}`] : []);
  return [
    `AX_URL=${shellWord(origin)} ax run start ${shellWord(start.flow)}`,
    ...(isObject(start.params) && Object.keys(start.params).length === 0 ? [] : flag("params", print(start.params))),
    ...flag("level", start.level),
    ...flag("queue", start.queue),
    ...flag("key", start.key),
    ...Object.entries(start.tags ?? {}).flatMap(([k, v]) => flag("tag", `${k}=${v}`)),
    ...flag("delay", start.delay_s ? `${start.delay_s}s` : undefined),
    ...flag("at", start.start_at),
  ].join(" \\\n  ");
}

/** A text as a Go string literal: as it stands between backquotes where that is readable, else escaped. */
export function goString(text: string): string {
  // A byte order mark may not stand in Go source.
  const plain = !/[`\r\uFEFF]/u.test(text);
  if (plain && /["\\]/u.test(text) && !/[\p{Cc}\p{Cf}]/u.test(text.replaceAll(/[\n\t]/gu, ""))) return `\`${text}\``;
  return JSON.stringify(text).replaceAll("\uFEFF", "\\ufeff");
}

/** The start as Go with AX's client. */
export function asGo(start: Start, origin: string, auth: boolean): string {
  const before = [`params := gen.Json(${goString(print(start.params))})`];
  const fields = [`Flow:   ${goString(start.flow)},`, `Params: &params,`];
  const pointer = (name: string, field: string, value: string) => {
    before.push(`${name} := ${value}`);
    fields.push(`${field}: &${name},`);
  };
  if (start.level) pointer("level", "Level", `gen.Level(${goString(start.level)})`);
  if (start.queue) pointer("queue", "Queue", goString(start.queue));
  if (start.key) pointer("key", "Key", goString(start.key));
  if (start.delay_s) pointer("delay", "DelayS", `float64(${start.delay_s})`);
  if (start.start_at) {
    before.push(`at, err := time.Parse(time.RFC3339, ${goString(start.start_at)})`, `if err != nil {`, `	return err`, `}`);
    fields.push(`StartAt: &at,`);
  }
  const tags = Object.entries(start.tags ?? {});
  if (tags.length > 0) fields.push(`Tags: map[string]string{${tags.map(([k, v]) => `${goString(k)}: ${goString(v)}`).join(", ")}},`);
  return [
    `// import "axflow/api/client" and "axflow/api/gen"`,
    `c, err := client.New(client.Config{URL: ${goString(origin)}${auth ? `, Token: os.Getenv("AX_TOKEN")` : ""}})`,
    `if err != nil {`,
    `	return err`,
    `}`,
    ...before,
    `res, err := c.StartRunWithResponse(ctx, gen.NewRun{`,
    ...fields.map((f) => `	${f}`),
    `})`,
    `if err != nil {`,
    `	return err`,
    `}`,
    `return client.Check(res.HTTPResponse, res.Body)`,
  ].join("\n");
}
