import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { meQuery, serverQuery } from "../api/queries";
import { coming, places } from "./nav";
import css from "./Shell.module.css";

/** The navigation: the places that the reader may see, and what is to come. */
export function Nav({ onGo }: { onGo: () => void }) {
  const may = useQuery(meQuery).data?.permissions;
  const server = useQuery(serverQuery).data;
  return (
    <nav className={css["nav"]} id="nav" aria-label="Main">
      <Link to="/" className={css["brand"]} onClick={onGo}>
        <img src="/icon.svg" alt="" width="22" height="22" /> AX
      </Link>
      {places.map(({ group, places: list }) => {
        const seen = list.filter((p) => !p.needs || !may || may.includes(p.needs));
        if (seen.length === 0) return null;
        return (
          <div key={group} className={css["group"]}>
            {group && <h2 className={css["groupName"]}>{group}</h2>}
            {seen.map((p) => (
              <Link key={p.to} to={p.to} className={css["link"]} activeProps={{ "aria-current": "page" }} activeOptions={{ exact: p.to === "/", includeSearch: false }} title={p.key ? `g ${p.key}` : undefined} onClick={onGo}>
                {p.name}
              </Link>
            ))}
            {group === "" &&
              coming.map((c) => (
                <span key={c.name} className={css["coming"]} role="link" aria-disabled="true" title={c.hint} tabIndex={0}>
                  {c.name} <span className={css["soon"]}>coming</span>
                </span>
              ))}
          </div>
        );
      })}
      <div className={css["version"]} title="The version of the server">
        {server ? `AX ${server.version}` : "\u00a0"}
      </div>
    </nav>
  );
}
