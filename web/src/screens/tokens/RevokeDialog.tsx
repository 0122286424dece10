import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { KeyValues } from "../../ui/KeyValues";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/toast";
import css from "./TokensScreen.module.css";

/** Asks before a token is revoked, with what tells whether somebody still uses it. */
export function RevokeDialog({ token, onClose }: { token: Schemas["Token"]; onClose: () => void }) {
  const cache = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => answer(api.DELETE("/api/v1/tokens/{token}", { params: { path: { token: token.id } } })),
    onSuccess: () => {
      void cache.invalidateQueries({ queryKey: keys.admin("tokens") });
      void cache.invalidateQueries({ queryKey: keys.admin("audit") });
      toast({ title: `Revoked token ${token.name}` });
      onClose();
    },
  });
  return (
    <Dialog
      title={`Revoke token ${token.name}`}
      description="Whoever uses it is refused from now on. It cannot be taken back; make another one if it was wrong."
      onClose={onClose}
      size="small"
      footer={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="danger" disabled={revoke.isPending} onClick={() => revoke.mutate()}>
            {revoke.isPending ? "Revoking it…" : "Revoke"}
          </Button>
        </>
      }
    >
      <KeyValues
        narrow
        items={[
          { name: "Begins with", value: <code>{token.prefix}…</code> },
          { name: "May", value: token.scopes ? `${token.role}, only ${token.scopes.join(", ")}` : token.role },
          { name: "Last used", value: token.last_used_at ? <Time at={token.last_used_at} ago /> : "never" },
          { name: "Made by", value: token.created_by },
        ]}
      />
      {revoke.isError && (
        <p className={css["bad"]} role="alert">
          {revoke.error.message}
        </p>
      )}
    </Dialog>
  );
}
