import type { Schemas } from "../api/client";
import { moment } from "./filter";
import { terms } from "./query";

/**
 * Whether a run is one that the search would find: `maybe` where the run does not tell, as its params are not in it. What the API would
 * refuse finds nothing.
 */
export function matches(q: string, run: Schemas["Run"], now: Date): "yes" | "no" | "maybe" {
  let sure: "yes" | "maybe" = "yes";
  for (const t of terms(q)) {
    const one = t.values.join(",");
    if (t.key.startsWith("param.")) sure = "maybe";
    else if (!holds(t.key, t.values, one, run, now)) return "no";
  }
  return sure;
}

function holds(key: string, values: readonly string[], one: string, run: Schemas["Run"], now: Date): boolean {
  switch (key) {
    case "flow":
      return values.includes(run.flow);
    case "queue":
      return values.includes(run.queue);
    case "trigger":
      return values.includes(run.trigger);
    case "level":
      return values.some((v) => v.toUpperCase() === run.level);
    case "state": {
      const open = run.state === "running" || run.state === "cancelling";
      return values.some((v) => v === run.state || (v === "open" && open) || (v === "ended" && !open));
    }
    case "version":
      return run.version.startsWith(one.toLowerCase());
    case "parent":
      return run.parent?.run.replaceAll("-", "") === one.toLowerCase().replaceAll("-", "");
    case "tag": {
      const cut = one.indexOf("=");
      return cut > 0 && run.tags?.[one.slice(0, cut)] === one.slice(cut + 1);
    }
    case "since": {
      const at = moment(one, now);
      return at !== undefined && new Date(run.created_at) >= at;
    }
    case "until": {
      const at = moment(one, now);
      return at !== undefined && new Date(run.created_at) < at;
    }
    case "":
      return run.id.replaceAll("-", "").startsWith(one.toLowerCase().replaceAll("-", ""));
    default:
      return false;
  }
}
