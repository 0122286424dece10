import type { Schemas } from "../../api/client";

/** A line of an export. */
export interface Line {
  index: number;
  key: string;
  state: string;
  attempt: number | undefined;
  /** Of the newest attempt that has ended. */
  duration_s: number | undefined;
  worker: string;
  error_code: string;
  error: string;
}

/** What is exported of a shard. The error is that of the newest attempt, if it failed. */
export function lineOf(item: Schemas["ShardItem"]): Line {
  const { last } = item;
  return {
    index: item.index,
    key: item.key ?? "",
    state: item.state,
    attempt: item.attempt,
    duration_s: last && (Date.parse(last.finished_at) - Date.parse(last.started_at)) / 1000,
    worker: item.worker ?? last?.worker ?? "",
    error_code: last?.failure?.code ?? "",
    error: last?.failure?.message ?? "",
  };
}

const columns: readonly (keyof Line)[] = ["index", "key", "state", "attempt", "duration_s", "worker", "error_code", "error"];

/** Lines as CSV (RFC 4180), with a head. */
export const csvOf = (lines: readonly Line[]): string => [columns.join(","), ...lines.map((line) => columns.map((c) => quoted(line[c])).join(","))].join("\r\n") + "\r\n";

/** Lines as a JSON array. */
export const jsonOf = (lines: readonly Line[]): string => JSON.stringify(lines, null, 1);

function quoted(value: string | number | undefined): string {
  if (typeof value === "number") return String(value);
  if (value === undefined) return "";
  // What a spreadsheet would take for a formula is text: keys and errors come from outside.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The sets to ask for one after the other: the API takes `most` characters of a set, so a longer one is cut between two ranges.
 */
export function cutSet(set: string, most: number): string[] {
  const out: string[] = [];
  let rest = set;
  while (rest.length > most) {
    const cut = rest.lastIndexOf(",", most);
    if (cut <= 0) break;
    out.push(rest.slice(0, cut));
    rest = rest.slice(cut + 1);
  }
  return rest === "" ? out : [...out, rest];
}
