import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { answer, api, Refusal, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { Button } from "../../ui/Button";
import { Checkbox } from "../../ui/Checkbox";
import { Dialog } from "../../ui/Dialog";
import { SecretOnce } from "../../ui/SecretOnce";
import { TextField } from "../../ui/TextField";
import { events, flowNames } from "./webhooks";
import css from "./Webhooks.module.css";

/** The form of a new webhook, and then its signing secret, this once. */
export function NewWebhookDialog({ onClose, onMade }: { onClose: () => void; onMade: (hook: Schemas["Webhook"]) => void }) {
  const id = useId();
  const cache = useQueryClient();
  const [name, setName] = useState("");
  const [url, setUrl] = useState("https://");
  const [chosen, setChosen] = useState<ReadonlySet<Schemas["WebhookEvent"]>>(new Set(["run.failed", "run.late"]));
  const [flows, setFlows] = useState("");
  const [reason, setReason] = useState("");
  const make = useMutation({
    mutationFn: (body: Schemas["NewWebhook"]) => answer(api.POST("/api/v1/webhooks", { body })),
    onSuccess: () => {
      void cache.invalidateQueries({ queryKey: keys.admin("webhooks") });
      void cache.invalidateQueries({ queryKey: keys.admin("audit") });
    },
  });
  const errors: ReadonlyMap<string, string> = make.error instanceof Refusal ? make.error.fields : new Map();
  const missing = name.trim() === "" || !/^https:\/\/./.test(url.trim()) || chosen.size === 0;
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (missing) return;
    const only = flowNames(flows);
    make.mutate({ name: name.trim(), url: url.trim(), events: events.map((e) => e.value).filter((e) => chosen.has(e)), ...(only.length > 0 && { flows: only }), ...(reason.trim() && { reason: reason.trim() }) });
  };
  if (make.data) {
    const { webhook, secret } = make.data;
    const done = () => {
      onClose();
      onMade(webhook);
    };
    return (
      <Dialog title={`Webhook ${webhook.name}`} onClose={done} keep footer={<Button onClick={done}>Done, I have it</Button>}>
        <SecretOnce secret={secret} what="signing secret" />
        <p>
          Deliveries are signed as Standard Webhooks says (<code>webhook-id</code>, <code>webhook-timestamp</code>, <code>webhook-signature</code>): give the receiver this secret, and send a test.
        </p>
      </Dialog>
    );
  }
  return (
    <Dialog
      title="New webhook"
      keep
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="primary" type="submit" form={id} disabled={missing || make.isPending}>
            {make.isPending ? "Making it…" : "Make webhook"}
          </Button>
        </>
      }
    >
      <form id={id} className={css["form"]} onSubmit={submit}>
        <TextField label="Name" value={name} onChange={setName} maxLength={100} autoComplete="off" placeholder="on call" error={errors.get("/name")} />
        <TextField label="URL" mono value={url} onChange={setUrl} maxLength={2000} autoComplete="off" spellCheck={false} hint="Only https, never a private address; redirects are not followed." error={errors.get("/url")} />
        <fieldset className={css["events"]}>
          <legend>When a run</legend>
          {events.map((e) => (
            <Checkbox
              key={e.value}
              label={e.label}
              hint={e.hint}
              checked={chosen.has(e.value)}
              onChange={(on) => {
                const next = new Set(chosen);
                if (on) next.add(e.value);
                else next.delete(e.value);
                setChosen(next);
              }}
            />
          ))}
          {(chosen.size === 0 || errors.get("/events")) && <span className={css["bad"]}>{errors.get("/events") ?? "Choose at least one."}</span>}
        </fieldset>
        <TextField label="Flows" optional value={flows} onChange={setFlows} autoComplete="off" placeholder="daily-recon, billing" hint="Separated by commas. Empty: all flows." error={errors.get("/flows")} />
        <TextField label="Reason" optional value={reason} onChange={setReason} maxLength={1000} autoComplete="off" hint="The audit keeps it." error={errors.get("/reason")} />
        {make.isError && errors.size === 0 && (
          <p className={css["bad"]} role="alert">
            {make.error.message}
          </p>
        )}
      </form>
    </Dialog>
  );
}
