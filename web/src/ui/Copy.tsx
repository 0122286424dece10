import { useEffect, useState } from "react";
import { Button } from "./Button";
import { copyText } from "./copyText";
import { Icon } from "./Icon";
import css from "./Copy.module.css";

/** A button that copies `text` and says so. `what` names it: "Copy run id". With `children` they are its face, else it is an icon. */
export function Copy({ text, what, children }: { text: string | (() => string); what: string; children?: React.ReactNode }) {
  const [done, setDone] = useState<"yes" | "no">();
  useEffect(() => {
    if (done === undefined) return;
    const timer = setTimeout(() => setDone(undefined), 1600);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => setDone((await copyText(typeof text === "string" ? text : text())) ? "yes" : "no");
  return (
    <>
      <Button kind={children ? "plain" : "quiet"} small className={children ? undefined : css["icon"]} aria-label={`Copy ${what}`} title={done === "no" ? "The browser does not allow it here: select the text and copy it" : `Copy ${what}`} onClick={() => void copy()}>
        <Icon name={done === "yes" ? "check" : done === "no" ? "warn" : "copy"} size={12} />
        {children}
      </Button>
      <span className={css["said"]} role="status">
        {done === "yes" ? `Copied ${what}` : done === "no" ? `Could not copy ${what}` : ""}
      </span>
    </>
  );
}
