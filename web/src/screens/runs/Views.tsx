import { Link } from "@tanstack/react-router";
import { use, useMemo, useState } from "react";
import { added, fixedViews, nameFault, readViews, removed, renamed, startOfDay, storeViews, type View } from "../../runs/views";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { useNow } from "../../ui/now";
import { TextField } from "../../ui/TextField";
import { useToast } from "../../ui/toast";
import { ZoneContext, zoneName } from "../../ui/zone";
import css from "./Views.module.css";

/** Searches with names, each a link: those that everybody has, and those that were saved in this browser. */
export function Views({ q }: { q: string }) {
  const { zone } = use(ZoneContext);
  const now = useNow();
  const today = startOfDay(new Date(now), zoneName(zone)).getTime();
  const fixed = useMemo(() => fixedViews(new Date(today)), [today]);
  const [own, setOwn] = useState(() => readViews(localStorage));
  const [asked, setAsked] = useState<{ rename?: string; name: string }>();
  const toast = useToast();
  const all = [...fixed, ...own];
  const current = all.find((v) => v.q === q)?.name;

  const keep = (views: View[]) => {
    setOwn(views);
    if (!storeViews(localStorage, views)) toast({ title: "This browser keeps nothing", text: "The views last as long as this page is open.", kind: "bad" });
  };
  const fault = asked && nameFault(asked.name, all, asked.rename);
  const save = () => {
    if (!asked || fault) return;
    keep(asked.rename === undefined ? added(own, asked.name, q) : renamed(own, asked.rename, asked.name));
    setAsked(undefined);
  };
  return (
    <nav className={css["views"]} aria-label="Views">
      {all.map((v) => (
        <span key={v.name} className={css["view"]} data-current={v.name === current || undefined}>
          <Link to="/runs" search={v.q ? { q: v.q } : {}} className={css["link"]} activeOptions={{ exact: true, includeSearch: true }} title={v.q || "Every run, the newest first"}>
            {v.name}
          </Link>
          {!v.fixed && v.name === current && (
            <Menu
              label={`View ${v.name}`}
              align="start"
              trigger={
                <Button kind="quiet" small className={css["more"]}>
                  <Icon name="more" size={12} />
                </Button>
              }
              items={[
                { name: "Rename…", onSelect: () => setAsked({ rename: v.name, name: v.name }) },
                { name: "Delete", kind: "danger", onSelect: () => keep(removed(own, v.name)) },
              ]}
            />
          )}
        </span>
      ))}
      {current === undefined && (
        <Button kind="quiet" small onClick={() => setAsked({ name: "" })}>
          <Icon name="plus" size={12} /> Save this search as a view
        </Button>
      )}
      {asked && (
        <Dialog
          title={asked.rename === undefined ? "Save the search as a view" : "Rename the view"}
          description={asked.rename === undefined ? "It is kept in this browser. Others see it by its address." : undefined}
          onClose={() => setAsked(undefined)}
          size="small"
          footer={
            <>
              <Button onClick={() => setAsked(undefined)}>Cancel</Button>
              <Button kind="primary" disabled={fault !== undefined} onClick={save}>
                Save
              </Button>
            </>
          }
        >
          <form onSubmit={(event) => (event.preventDefault(), save())}>
            <TextField label="Name" value={asked.name} onChange={(name) => setAsked({ ...asked, name })} hint={asked.rename === undefined ? <code>{q}</code> : undefined} error={asked.name === "" ? undefined : fault} maxLength={80} />
          </form>
        </Dialog>
      )}
    </nav>
  );
}
