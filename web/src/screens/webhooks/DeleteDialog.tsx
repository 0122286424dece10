import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { toast } from "../../ui/toast";
import css from "./Webhooks.module.css";

/** Asks before a webhook is deleted. */
export function DeleteDialog({ hook, onClose, onDeleted }: { hook: Schemas["Webhook"]; onClose: () => void; onDeleted: () => void }) {
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => answer(api.DELETE("/api/v1/webhooks/{webhook}", { params: { path: { webhook: hook.id } } })),
    onSuccess: () => {
      void cache.invalidateQueries({ queryKey: keys.admin("webhooks") });
      void cache.invalidateQueries({ queryKey: keys.admin("audit") });
      toast({ title: `Deleted webhook ${hook.name}` });
      onClose();
      onDeleted();
    },
  });
  return (
    <Dialog
      title={`Delete webhook ${hook.name}`}
      description="What it has not delivered yet is deleted with it, and so is its secret. It cannot be taken back."
      onClose={onClose}
      size="small"
      footer={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
            {remove.isPending ? "Deleting it…" : "Delete"}
          </Button>
        </>
      }
    >
      {remove.isError && (
        <p className={css["bad"]} role="alert">
          {remove.error.message}
        </p>
      )}
    </Dialog>
  );
}
