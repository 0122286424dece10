import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { use } from "react";
import { answer, api } from "../../api/client";
import { keys } from "../../api/keys";
import { useLiveStatus } from "../../api/live/useLive";
import { meQuery } from "../../api/queries";
import { shortId } from "../../ui/format";
import { usePaletteList } from "../../ui/paletteActions";
import { StateMark } from "../../ui/StateMark";
import { ZoneContext } from "../../ui/zone";
import { openShell } from "../dialogs";
import { logOut } from "../login/logOut";
import { places } from "../nav";
import { setTheme, useTheme } from "../theme";
import { ranked } from "./match";
import { runSearch } from "./runSearch";

/** A line of the palette. */
export interface Entry {
  id: string;
  name: string;
  hint?: string;
  mark?: React.ReactNode;
  action: () => void;
  /** The characters of the name that matched. */
  at: readonly number[];
}

type Raw = Omit<Entry, "at">;

/** What the palette offers for what was typed, in groups, the best group first. */
export function useEntries(typed: string): { groups: { name: string; entries: Entry[] }[]; busy: boolean } {
  const navigate = useNavigate();
  const cache = useQueryClient();
  const me = useQuery(meQuery).data;
  const may = (needs: string | undefined) => !needs || !me || me.permissions.some((p) => p === needs);
  const { zone, setZone } = use(ZoneContext);
  const theme = useTheme();
  const live = useLiveStatus();
  const screen = usePaletteList();
  const flows = useQuery({
    queryKey: [...keys.flows, "palette"],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/flows", { params: { query: { limit: 1000 } }, signal })),
    enabled: may("flows:read"),
    staleTime: 60_000,
  });
  const q = runSearch(typed);
  const runs = useQuery({
    queryKey: [...keys.runs, "palette", q],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/runs", { params: { query: { q: q ?? "", limit: 8 } }, signal })),
    enabled: q !== undefined && may("runs:read"),
    staleTime: 10_000,
    retry: false,
  });

  const here: Raw[] = screen.map((a, i) => ({ id: `here-${i}`, ...a }));
  const going: Raw[] = places
    .flatMap((g) => g.places)
    .filter((p) => may(p.needs))
    .map((p) => ({ id: p.to, name: p.name, ...(p.key ? { hint: `g ${p.key}` } : {}), action: () => void navigate({ to: p.to }) }));
  const names = flows.data?.items.map((f) => f.name) ?? [];
  const toFlow: Raw[] = names.map((flow) => ({ id: `flow-${flow}`, name: flow, hint: "flow", action: () => void navigate({ to: "/flows/$flow", params: { flow } }) }));
  const toStart: Raw[] = may("runs:start") ? names.map((flow) => ({ id: `start-${flow}`, name: `Start a run of ${flow}`, action: () => void navigate({ to: "/flows/$flow/start", params: { flow } }) })) : [];
  const page: Raw[] = [
    ...(["light", "dark", "system"] as const).filter((t) => t !== theme).map((t) => ({ id: `theme-${t}`, name: t === "system" ? "Theme: as the system is" : `Theme: ${t}`, action: () => setTheme(t) })),
    ...(["utc", "local"] as const).filter((z) => z !== zone).map((z) => ({ id: `zone-${z}`, name: z === "utc" ? "Times in UTC" : "Times in this browser’s zone", action: () => setZone(z) })),
    { id: "zone", name: "Times in another zone…", action: () => openShell("zone") },
    { id: "shortcuts", name: "Shortcuts", hint: "?", action: () => openShell("shortcuts") },
    ...(live.state === "off" ? [] : [live.state === "paused" ? { id: "resume", name: "Continue live", action: live.resume } : { id: "pause", name: "Pause live", action: live.pause }]),
    ...(me && me.via !== "local" ? [{ id: "logout", name: "Log out", action: () => void logOut(me.via, cache) }] : []),
  ];

  const found: Entry[] = (runs.data?.items ?? []).map((r) => ({
    id: r.id,
    name: `${r.flow} ${shortId(r.id)}`,
    hint: r.state,
    mark: <StateMark state={r.paused ? "paused" : r.state} bare />,
    action: () => void navigate({ to: "/runs/$run", params: { run: r.id } }),
    at: [],
  }));
  if (q !== undefined && may("runs:read")) found.push({ id: "all-runs", name: `All runs of the search “${q}”`, action: () => void navigate({ to: "/runs", search: { q } }), at: [] });

  const pick = (raw: readonly Raw[], most: number): { entries: Entry[]; best: number } => {
    const list = ranked(typed, raw, (e) => e.name).slice(0, most);
    return { entries: list.map(({ item, at }) => ({ ...item, at })), best: list[0]?.score ?? -1 };
  };
  const empty = typed.trim() === "";
  const groups = [
    { name: "This screen", ...pick(here, 12) },
    { name: "Go to", ...pick(going, empty ? 20 : 6) },
    { name: "Flows", ...(empty ? { entries: [], best: -1 } : pick(toFlow, 8)) },
    { name: "Start", ...pick(toStart, empty ? 5 : 6) },
    { name: "Page", ...pick(page, 10) },
  ];
  // Without anything typed the order is fixed; else what matches best comes first.
  const ordered = empty ? groups : groups.toSorted((a, b) => b.best - a.best);
  return { groups: [...(found.length > 0 ? [{ name: "Runs", entries: found }] : []), ...ordered].filter((g) => g.entries.length > 0), busy: runs.isFetching || flows.isLoading };
}
