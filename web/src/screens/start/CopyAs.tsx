import { useState } from "react";
import { Copy } from "../../ui/Copy";
import { Segmented } from "../../ui/Segmented";
import { asAx, asCurl, asGo, secretPlace, type Start } from "./copyAs";
import css from "./StartScreen.module.css";

type Kind = "curl" | "ax" | "go";

/** The start as a command or as code. Typed secrets are not in it. */
export function CopyAs({ start, auth, secrets }: { start: Start; auth: boolean; secrets: boolean }) {
  const [kind, setKind] = useState<Kind>("curl");
  const origin = window.location.origin;
  const text = kind === "curl" ? asCurl(start, origin, auth) : kind === "ax" ? asAx(start, origin) : asGo(start, origin, auth);
  return (
    <div className={css["copyAs"]}>
      <div className={css["copyHead"]}>
        <Segmented
          label="Copy as"
          value={kind}
          onChange={setKind}
          options={[
            { value: "curl", label: "curl" },
            { value: "ax", label: "ax" },
            { value: "go", label: "Go" },
          ]}
        />
        <Copy text={text} what={`the start as ${kind === "go" ? "Go" : kind}`}>
          Copy
        </Copy>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so that the keyboard must reach it */}
      <pre className={css["code"]} tabIndex={0} aria-label={`The start as ${kind === "go" ? "Go" : kind}`}>
        {text}
      </pre>
      <p className={css["muted"]}>
        {auth && "The token is read from AX_TOKEN. "}
        {secrets && `Secrets are left out: put them in where ${secretPlace} stands. `}
        {start.key && "With this key it is the same run as the form’s."}
      </p>
    </div>
  );
}
