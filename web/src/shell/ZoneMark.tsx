import { use } from "react";
import { Button } from "../ui/Button";
import { ZoneContext } from "../ui/zone";
import { openShell } from "./dialogs";
import { zoneText } from "./zones";
import css from "./Bar.module.css";

/** The zone that times are shown in; it opens the choice of another. */
export function ZoneMark() {
  const { zone } = use(ZoneContext);
  return (
    <Button kind="quiet" small className={css["zone"]} title="The zone that times are shown in" aria-label={`Times in ${zoneText(zone)}; choose another zone`} onClick={() => openShell("zone")}>
      {zoneText(zone)}
    </Button>
  );
}
