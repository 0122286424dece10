/** The detail of a line of the journal: the reason that was given, and the rest as "name value" pairs; what says nothing is left out. */
export function detailWords(detail: unknown): { reason: string; rest: string } {
  if (typeof detail !== "object" || detail === null) return { reason: "", rest: "" };
  const reason = "reason" in detail && typeof detail.reason === "string" ? detail.reason : "";
  const rest = Object.entries(detail)
    .filter(([name, value]) => name !== "reason" && value !== null && value !== false && value !== "" && value !== 0)
    .map(([name, value]) => (value === true ? plain(name) : `${plain(name)} ${typeof value === "string" ? value : JSON.stringify(value)}`))
    .join(" · ");
  return { reason, rest };
}

const plain = (name: string): string => name.replaceAll("_", " ");
