import { useQuery } from "@tanstack/react-query";
import { Link, Outlet } from "@tanstack/react-router";
import { ActHost } from "../acts/ActHost";
import { meQuery } from "../api/queries";
import { Toaster } from "../ui/Toaster";
import { places } from "./nav";
import css from "./Shell.module.css";

/** The frame around every screen: navigation, the bar, and what opens over them. */
export function Shell() {
  const me = useQuery(meQuery);
  const may = me.data?.permissions;
  return (
    <div className={css["shell"]}>
      <nav className={css["nav"]} aria-label="Main">
        <Link to="/" className={css["brand"]}>
          <img src="/icon.svg" alt="" width="22" height="22" /> AX
        </Link>
        {places.map(({ group, places: list }) => (
          <div key={group} className={css["group"]}>
            {group && <h2 className={css["groupName"]}>{group}</h2>}
            {list
              .filter((p) => !p.needs || !may || may.includes(p.needs))
              .map((p) => (
                <Link key={p.to} to={p.to} className={css["link"]} activeProps={{ "aria-current": "page" }} activeOptions={{ exact: p.to === "/", includeSearch: false }}>
                  {p.name}
                </Link>
              ))}
          </div>
        ))}
      </nav>
      <div className={css["main"]}>
        <div className={css["bar"]} />
        <Outlet />
      </div>
      <ActHost />
      <Toaster />
    </div>
  );
}
