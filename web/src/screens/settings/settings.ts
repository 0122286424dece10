import type { Schemas } from "../../api/client";

/** What a kill switch does while it is on, and what takes its place while it is off. */
export function meaning(says: string): { on: string; off: string } {
  const [on = "", off = ""] = says.split("; off: ");
  return { on: capital(on), off: capital(off) };
}

const capital = (s: string): string => s.charAt(0).toUpperCase() + s.slice(1);

/** Who turned each switch last, by name; the audit's lines come newest first. */
export function lastTurned(lines: readonly Schemas["AuditLine"][]): Map<string, Schemas["AuditLine"]> {
  const last = new Map<string, Schemas["AuditLine"]>();
  for (const line of lines) {
    const name = line.target.replace(/^setting\//, "");
    if (!last.has(name)) last.set(name, line);
  }
  return last;
}
