import { use, useState } from "react";
import { Dialog } from "../ui/Dialog";
import { useNow } from "../ui/now";
import { SearchField } from "../ui/SearchField";
import { absolute, ZoneContext, type Zone } from "../ui/zone";
import css from "./ZoneDialog.module.css";
import { findZones, offset } from "./zones";

const named = Intl.supportedValuesOf("timeZone");
const browser = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The choice of the zone that all times are shown in. */
export default function ZoneDialog({ onClose }: { onClose: () => void }) {
  const { zone, setZone } = use(ZoneContext);
  const [typed, setTyped] = useState("");
  const now = new Date(useNow());
  const found = findZones(typed, named, 60);
  const choose = (next: Zone) => {
    setZone(next);
    onClose();
  };
  const option = (value: Zone, name: string, of: string) => (
    <li key={value}>
      <button type="button" className={css["zone"]} aria-pressed={value === zone} onClick={() => choose(value)}>
        <span>{name}</span>
        <span className={css["offset"]}>{offset(of, now)}</span>
      </button>
    </li>
  );
  return (
    <Dialog title="Times" description="All times of the page are shown in this zone." onClose={onClose} size="small">
      <p className={css["now"]}>Now it is {absolute(now, zone).replace(/\.\d+/, "")}.</p>
      <ul>
        {option("utc", "UTC", "UTC")}
        {option("local", `This browser’s zone (${browser})`, browser)}
      </ul>
      <SearchField label="Find a zone" placeholder="Find a zone, such as Berlin" shortcut={false} value={typed} onChange={setTyped} onEnter={() => found[0] && choose(found[0])} />
      <ul className={css["list"]} aria-label="Zones">
        {found.map((z) => option(z, z.replaceAll("_", " "), z))}
        {found.length === 0 && <li className={css["none"]}>No zone has “{typed}” in its name.</li>}
      </ul>
    </Dialog>
  );
}
