import { Refusal } from "../api/client";
import { Button } from "./Button";
import css from "./Notice.module.css";

/** What a screen shows when it has nothing: what is missing, and what to do. */
export function Empty({ title, children, action }: { title: string; children?: React.ReactNode; action?: React.ReactNode }) {
  return (
    <div className={css["notice"]}>
      <strong>{title}</strong>
      {children && <div className={css["text"]}>{children}</div>}
      {action}
    </div>
  );
}

/** What a screen shows when something could not be read or done: what, why, and how to go on. */
export function Failure({ what, error, retry }: { what: string; error: unknown; retry?: () => void }) {
  const problem = error instanceof Refusal ? error.problem : undefined;
  const forbidden = problem?.code === "forbidden";
  return (
    <div className={css["notice"]} data-bad role="alert">
      <strong>{forbidden ? `You may not see this: ${what}` : `Could not read ${what}`}</strong>
      <div className={css["text"]}>
        {error instanceof Error ? error.message : String(error)}
        {forbidden && " Ask somebody with the role admin for a token or a role that has it."}
        {problem?.code === "internal" && problem.instance && (
          <>
            {" "}
            The server’s log has it under <code>{problem.instance}</code>.
          </>
        )}
      </div>
      {retry && !forbidden && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** Grey lines in the place of what is being read, as high as it will be, so that nothing moves when it comes. */
export function Loading({ lines = 3, what }: { lines?: number; what: string }) {
  return (
    <output className={css["loading"]} aria-label={`Reading ${what}`}>
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} className={css["line"]} style={{ width: `${[92, 78, 85, 64][i % 4]}%` }} />
      ))}
    </output>
  );
}
