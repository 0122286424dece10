import { useQuery, useQueryClient } from "@tanstack/react-query";
import { meQuery } from "../api/queries";
import { Button } from "../ui/Button";
import { Menu } from "../ui/Menu";
import css from "./Bar.module.css";
import { openShell } from "./dialogs";
import { logOut } from "./login/logOut";
import { setTheme, useTheme, type Theme } from "./theme";

const themes: readonly { value: Theme; name: string }[] = [
  { value: "light", name: "Light theme" },
  { value: "dark", name: "Dark theme" },
  { value: "system", name: "The system’s theme" },
];

/** Who the reader is, and what they can set: the theme, the zone, the log-out. */
export function ReaderMenu() {
  const me = useQuery(meQuery).data;
  const cache = useQueryClient();
  const theme = useTheme();
  const via = me && { token: "by a token of this tab", session: "logged in", local: "this server asks for no credential" }[me.via];
  return (
    <Menu
      label={me ? `${me.actor} ${me.namespace}: you, and settings of the page` : "You, and settings of the page"}
      trigger={
        <Button kind="quiet" small className={css["reader"]}>
          <span className={css["actor"]}>{me?.actor ?? "…"}</span>{" "}
          {me && <span className={css["namespace"]}>{me.namespace}</span>}
        </Button>
      }
      head={
        me && (
          <div className={css["who"]}>
            <strong>{me.actor}</strong>
            <span>
              {me.role} in namespace {me.namespace}
            </span>
            <span>{via}</span>
          </div>
        )
      }
      items={[
        ...themes.map((t, i) => ({ name: t.name, checked: t.value === theme, onSelect: () => setTheme(t.value), ...(i === 0 ? { separate: true } : {}) })),
        { name: "Zone of times…", onSelect: () => openShell("zone"), separate: true },
        { name: "Shortcuts", onSelect: () => openShell("shortcuts") },
        ...(me && me.via !== "local" ? [{ name: me.via === "token" ? "Forget the token" : "Log out", onSelect: () => void logOut(me.via, cache), separate: true }] : []),
      ]}
    />
  );
}
