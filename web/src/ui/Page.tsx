import { useEffect } from "react";
import css from "./Page.module.css";

/** A screen: its title (also the window's), what stands beside it, its actions, and its content. `fill` makes the content as high as the window. */
export function Page({ title, name, aside, actions, fill = false, children }: { title: React.ReactNode; name: string; aside?: React.ReactNode; actions?: React.ReactNode; fill?: boolean; children: React.ReactNode }) {
  useEffect(() => {
    document.title = name ? `${name} · AX` : "AX";
  }, [name]);
  return (
    <main className={css["page"]} data-fill={fill || undefined} id="main" tabIndex={-1}>
      <header className={css["head"]}>
        <h1>{title}</h1>
        {aside && <div className={css["aside"]}>{aside}</div>}
        {actions && <div className={css["actions"]}>{actions}</div>}
      </header>
      {children}
    </main>
  );
}

/** A box of a screen with a heading. `flush` leaves out the padding, for tables; `fill` takes the room that is left of a `Page fill`. */
export function Panel({ title, aside, flush = false, fill = false, className, children }: { title?: React.ReactNode; aside?: React.ReactNode; flush?: boolean; fill?: boolean; className?: string | undefined; children: React.ReactNode }) {
  return (
    <section className={className ? `${css["panel"]} ${className}` : css["panel"]} data-flush={flush || undefined} data-fill={fill || undefined}>
      {(title || aside) && (
        <header className={css["panelHead"]}>
          {title && <h2>{title}</h2>}
          {aside && <div className={css["panelAside"]}>{aside}</div>}
        </header>
      )}
      <div className={css["panelBody"]}>{children}</div>
    </section>
  );
}
