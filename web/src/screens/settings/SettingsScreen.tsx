import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { act } from "../../acts/host";
import { setSetting } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";
import { DataTable, type Column } from "../../ui/DataTable";
import { Failure } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { usePaletteActions } from "../../ui/paletteActions";
import { Switch } from "../../ui/Switch";
import { Time } from "../../ui/Time";
import { lastTurned, meaning } from "./settings";
import css from "./SettingsScreen.module.css";

type Setting = Schemas["Setting"];

/** The kill switches: what each turns off, who turned it last, and the switch itself. */
export default function SettingsScreen() {
  const may = useMay();
  const settings = useQuery({
    queryKey: keys.admin("settings"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/settings", { signal })),
    refetchInterval: usePoll(10_000, 10_000),
  });
  const audit = useQuery({
    queryKey: keys.admin("audit", "set_setting"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/audit", { params: { query: { verb: "set_setting", limit: 200 } }, signal })),
    enabled: may("audit:read") === undefined,
  });
  const denied = may("settings:admin");
  const lines = audit.data?.items;
  const columns = useMemo(() => columnsOf(denied, lines ? lastTurned(lines) : undefined), [denied, lines]);
  const items = settings.data?.items ?? [];
  const off = items.filter((s) => !s.on).length;
  usePaletteActions(denied ? [] : items.map((s) => ({ name: `Turn ${s.on ? "off" : "on"}: ${s.name}`, action: () => act(setSetting(s.name, !s.on)) })));
  return (
    <Page title="Settings" name="Settings" aside={settings.data && <span>{off === 0 ? "all parts are on" : `${off} of ${items.length} parts are off`}</span>}>
      <p className={css["lead"]}>
        Kill switches. Each turns a part of the engine off for the whole database while everything runs, and a plain fallback takes its place. They are for emergencies: turn a part on again when its fault is
        mended. {denied && <span className={css["denied"]}>You may look, not turn: {denied}</span>}
      </p>
      {settings.isError && !settings.data ? (
        <Failure what="the settings" error={settings.error} retry={() => void settings.refetch()} />
      ) : (
        <Panel flush>
          <DataTable label="Kill switches" rows={items} columns={columns} rowKey={nameOf} rowHeight={58} loading={settings.isPending} {...(denied ? {} : { onOpen: turn })} />
        </Panel>
      )}
    </Page>
  );
}

const nameOf = (s: Setting): string => s.name;
const turn = (s: Setting): void => act(setSetting(s.name, !s.on));

function columnsOf(denied: string | undefined, last: ReadonlyMap<string, Schemas["AuditLine"]> | undefined): Column<Setting>[] {
  return [
    {
      id: "on",
      head: "On",
      width: 72,
      cell: (s) => <Switch bare label={s.name} checked={s.on} disabled={denied !== undefined} onChange={() => turn(s)} />,
    },
    { id: "name", head: "Part", width: 110, cell: (s) => <strong>{s.name}</strong> },
    { id: "does", head: "What it does", width: "2fr", min: 160, cell: (s) => <span className={css["wrap"]}>{meaning(s.says).on}</span> },
    { id: "off", head: "While it is off", width: "2fr", min: 160, cell: (s) => <span className={css["wrap"]}>{meaning(s.says).off}</span> },
    {
      id: "last",
      head: "Turned last",
      width: "2fr",
      min: 180,
      cell: (s) => {
        const line = last?.get(s.name);
        if (!s.updated_at && !line) return <span className={css["muted"]}>never</span>;
        return (
          <span className={css["last"]}>
            <span>
              <Time at={line?.at ?? s.updated_at} />
              {line && (
                <>
                  {" by "}
                  <Link to="/audit" search={{ target: `setting/${s.name}`, line: line.id }}>
                    {line.actor}
                  </Link>
                </>
              )}
            </span>
            {line?.reason && (
              <span className={css["reason"]} title={line.reason}>
                {line.reason}
              </span>
            )}
          </span>
        );
      },
    },
  ];
}
