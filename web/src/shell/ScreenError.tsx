import { Link, type ErrorComponentProps } from "@tanstack/react-router";
import { Button } from "../ui/Button";
import { Page } from "../ui/Page";
import { staleBuild } from "./staleBuild";
import css from "./ScreenError.module.css";

/** What stands in a screen's place when it broke: what happened, and a way out. */
export function ScreenError({ error, reset }: ErrorComponentProps) {
  if (staleBuild(error)) {
    return (
      <Page title="A new version is out" name="New version">
        <div className={css["box"]} role="alert">
          <p>The server has a newer page than this tab, and what belongs to the old one is gone. Reload to go on; nothing is lost.</p>
          <Button kind="primary" onClick={() => window.location.reload()}>
            Reload
          </Button>
        </div>
      </Page>
    );
  }
  return (
    <Page title="This screen broke" name="Error">
      <div className={css["box"]} role="alert">
        <p>It is a fault of the page, and not of your runs: they go on. Other screens still work.</p>
        <pre className={css["text"]}>{error instanceof Error ? `${error.name}: ${error.message}` : String(error)}</pre>
        <div className={css["ways"]}>
          <Button kind="primary" onClick={reset}>
            Try again
          </Button>
          <Button onClick={() => window.location.reload()}>Reload the page</Button>
          <Link to="/">To the overview</Link>
        </div>
      </div>
    </Page>
  );
}
