import { shortId } from "../ui/format";
import { places } from "./nav";

/** A step of the way to the current screen. */
export interface Crumb {
  name: string;
  /** The address; the last one has none. */
  to?: string;
  /** The name in full where `name` is short. */
  title?: string;
}

const words: Record<string, string> = { stages: "", shards: "", start: "Start run", compare: "Compare" };

/** The way to a path: `/runs/0192…/stages/load` is Runs, run 0192…, stage load. */
export function crumbs(path: string): Crumb[] {
  const parts = path.split("/").filter(Boolean).map(decode);
  const place = places.flatMap((g) => g.places).find((p) => p.to === `/${parts[0] ?? ""}`);
  if (!place) return parts.length === 0 ? [{ name: "Overview" }] : [];
  const steps: Crumb[] = [{ name: place.name, to: place.to }];
  for (let i = 1; i < parts.length; i++) {
    const part = parts[i] ?? "";
    const before = parts[i - 1];
    const to = `/${parts.slice(0, i + 1).map(encodeURIComponent).join("/")}`;
    if (before === "runs") steps.push({ name: shortId(part), title: part, to });
    else if (before === "shards") steps.push({ name: part === "-1" ? "plan" : `shard ${part}`, to });
    else if (words[part] !== undefined && before !== "flows" && before !== "stages") {
      if (words[part]) steps.push({ name: words[part], to });
    } else steps.push({ name: part, to });
  }
  return steps.map((s, i) => (i === steps.length - 1 ? { name: s.name, ...(s.title ? { title: s.title } : {}) } : s));
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
