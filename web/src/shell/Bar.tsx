import { Link, useLocation } from "@tanstack/react-router";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import css from "./Bar.module.css";
import { crumbs } from "./crumbs";
import { openShell } from "./dialogs";
import { LiveMark } from "./LiveMark";
import { ReaderMenu } from "./ReaderMenu";
import { ZoneMark } from "./ZoneMark";

const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** The bar above every screen: where one is, the palette, whether it is live, the zone, and who one is. */
export function Bar({ navOpen, onNav }: { navOpen: boolean; onNav: () => void }) {
  const path = useLocation({ select: (l) => l.pathname });
  return (
    <header className={css["bar"]}>
      <Button kind="quiet" className={css["navButton"]} aria-label="Navigation" aria-expanded={navOpen} aria-controls="nav" onClick={onNav}>
        <Icon name="menu" size={16} />
      </Button>
      <nav aria-label="Breadcrumbs" className={css["crumbs"]}>
        <ol>
          {crumbs(path).map((c) => (
            <li key={(c.to ?? "") + c.name}>
              {c.to ? (
                <Link to={c.to} title={c.title}>
                  {c.name}
                </Link>
              ) : (
                <span aria-current="page" title={c.title}>
                  {c.name}
                </span>
              )}
            </li>
          ))}
        </ol>
      </nav>
      <button type="button" className={css["search"]} onClick={() => openShell("palette")} aria-keyshortcuts={mac ? "Meta+K" : "Control+K"}>
        <Icon name="search" size={12} />
        <span className={css["searchText"]}>Go to, start, find</span>
        <kbd>{mac ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      <LiveMark />
      <ZoneMark />
      <ReaderMenu />
    </header>
  );
}
