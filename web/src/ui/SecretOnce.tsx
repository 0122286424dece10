import { Copy } from "./Copy";
import css from "./SecretOnce.module.css";

/** A secret that is shown this once, with the button that copies it. */
export function SecretOnce({ secret, what }: { secret: string; what: string }) {
  return (
    <div className={css["box"]}>
      <p>
        <strong>Copy the {what} now.</strong> It is shown this once: nobody can read it again, only make a new one.
      </p>
      <div className={css["line"]}>
        <code className={css["secret"]}>{secret}</code>
        <Copy text={secret} what={what}>
          Copy
        </Copy>
      </div>
    </div>
  );
}
