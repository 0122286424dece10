import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { answer, api, Refusal } from "../../api/client";
import { keys } from "../../api/keys";
import { useLiveStatus } from "../../api/live/useLive";
import { token } from "../../api/token";
import { Button, buttonClass } from "../../ui/Button";
import { TextField } from "../../ui/TextField";
import css from "./Login.module.css";
import { loginAddress, way } from "./way";

/** What somebody sees whom the server does not know: the way to log in. `refused` is what the server said to the credential there was. */
export default function Login({ refused }: { refused: Error }) {
  const found = useQuery({ queryKey: ["way"], queryFn: ({ signal }) => way(signal), staleTime: 60_000, retry: 1 });
  const [paste, setPaste] = useState(false);
  useEffect(() => {
    document.title = "Log in · AX";
  }, []);
  // A session that ended is worth a word; having had none is not.
  const over = refused instanceof Refusal && /over|expired|revoked/.test(refused.message) ? refused.message : undefined;
  return (
    <main className={css["page"]} id="main">
      <div className={css["box"]}>
        <h1>
          <img src="/icon.svg" alt="" width="26" height="26" /> Log in to AX
        </h1>
        {over && <p className={css["over"]}>{over}</p>}
        {found.isPending ? (
          <div className={css["wait"]} role="status">
            Finding out how one logs in here…
          </div>
        ) : found.data === "oidc" && !paste ? (
          <>
            <p>Your organisation’s log-in is used. You come back to this page.</p>
            <a className={buttonClass} data-kind="primary" href={loginAddress(window.location.pathname + window.location.search)}>
              Log in
            </a>
            <Button kind="quiet" onClick={() => setPaste(true)}>
              Use a token instead
            </Button>
          </>
        ) : (
          <PasteToken />
        )}
      </div>
    </main>
  );
}

function PasteToken() {
  const cache = useQueryClient();
  const { resume } = useLiveStatus();
  const [text, setText] = useState("");
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: React.FormEvent) => {
    event.preventDefault();
    const pasted = text.trim();
    if (pasted === "") return setError("Paste a token first.");
    setBusy(true);
    token.set(pasted);
    try {
      const me = await answer(api.GET("/api/v1/me"));
      // What was refused before is read anew, the stream included.
      cache.setQueryData(keys.me, me);
      await cache.resetQueries({ predicate: (q) => q.queryKey[0] !== keys.me[0] });
      resume();
    } catch (cause) {
      token.clear();
      const unknown = cause instanceof Refusal && cause.problem.code === "unauthenticated";
      setError(unknown ? "The server does not know this token: it is mistyped, expired or revoked." : cause instanceof Error ? cause.message : String(cause));
      setBusy(false);
    }
  };
  return (
    <form className={css["form"]} onSubmit={(e) => void submit(e)}>
      <TextField
        label="Token"
        mono
        type="password"
        autoComplete="off"
        spellCheck={false}
        placeholder="ax_…"
        value={text}
        onChange={(next) => {
          setText(next);
          setError(undefined);
        }}
        error={error}
        hint="It stays in this tab and is gone when the tab is closed."
      />
      <p className={css["how"]}>
        An administrator makes one with <code>ax token create</code>, or under Tokens on this page.
      </p>
      <Button type="submit" kind="primary" disabled={busy}>
        {busy ? "Asking…" : "Log in"}
      </Button>
    </form>
  );
}
