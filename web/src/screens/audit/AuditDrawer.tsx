import type { Schemas } from "../../api/client";
import { Button } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { Drawer } from "../../ui/Drawer";
import { JsonBox } from "../../ui/JsonBox";
import { KeyValues } from "../../ui/KeyValues";
import { Time } from "../../ui/Time";
import css from "./AuditScreen.module.css";
import { Target } from "./Target";

/** One line of the audit in full. The list behind it stays usable: the drawer follows it. */
export function AuditDrawer({ line, onClose, onFilter }: { line: Schemas["AuditLine"]; onClose: () => void; onFilter: (change: { actor?: string; target?: string }) => void }) {
  return (
    <Drawer title={`${line.verb} by ${line.actor}`} modal={false} onClose={onClose} actions={<Copy text={() => window.location.href} what="link to this line" />}>
      <KeyValues
        narrow
        items={[
          { name: "When", value: <Time at={line.at} /> },
          { name: "Who", value: line.actor },
          { name: "Did", value: line.verb },
          { name: "To", value: <Target target={line.target} full /> },
          { name: "Why", value: line.reason ?? <span className={css["muted"]}>no reason was given</span> },
          { name: "Id", value: <code>{line.id}</code> },
        ]}
      />
      {line.detail !== undefined && <JsonBox value={line.detail} label="Detail" />}
      <div className={css["ways"]}>
        <Button small onClick={() => onFilter({ target: line.target })}>
          All on this target
        </Button>
        <Button small onClick={() => onFilter({ actor: line.actor })}>
          All by {line.actor}
        </Button>
      </div>
    </Drawer>
  );
}
