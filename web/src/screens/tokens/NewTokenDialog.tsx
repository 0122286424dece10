import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { answer, api, Refusal, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { meQuery } from "../../api/queries";
import { Button } from "../../ui/Button";
import { Checkbox } from "../../ui/Checkbox";
import { Dialog } from "../../ui/Dialog";
import { SecretOnce } from "../../ui/SecretOnce";
import { Segmented } from "../../ui/Segmented";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { lives, roles } from "./tokens";
import css from "./TokensScreen.module.css";

/** The form of a new token, and then its secret, this once. */
export function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const id = useId();
  const cache = useQueryClient();
  const me = useQuery(meQuery).data;
  const [name, setName] = useState("");
  const [role, setRole] = useState<Schemas["Role"]>("viewer");
  const [life, setLife] = useState("7776000");
  const [narrow, setNarrow] = useState(false);
  const [scopes, setScopes] = useState<ReadonlySet<Schemas["Permission"]>>(new Set());
  const [cluster, setCluster] = useState(false);
  const chosen = roles.find((r) => r.role === role);
  const offered = [...(chosen?.permissions ?? []), ...(cluster ? (["settings:admin"] as const) : [])];
  const kept = offered.filter((p) => scopes.has(p));
  const make = useMutation({
    mutationFn: (body: Schemas["NewToken"]) => answer(api.POST("/api/v1/tokens", { body })),
    onSuccess: () => {
      void cache.invalidateQueries({ queryKey: keys.admin("tokens") });
      void cache.invalidateQueries({ queryKey: keys.admin("audit") });
    },
  });
  const errors: ReadonlyMap<string, string> = make.error instanceof Refusal ? make.error.fields : new Map();
  const missing = name.trim() === "" || (narrow && kept.length === 0);
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (!missing) make.mutate({ name: name.trim(), role, expires_in_s: Number(life), ...(narrow && { scopes: kept }), ...(cluster && { cluster }) });
  };
  if (make.data) {
    return (
      <Dialog title={`Token ${make.data.token.name}`} onClose={onClose} keep footer={<Button onClick={onClose}>Done, I have it</Button>}>
        <SecretOnce secret={make.data.secret} what="token" />
        <p>
          It is sent as <code>Authorization: Bearer …</code>; <code>ax</code> takes it from the variable <code>AX_TOKEN</code>.
        </p>
      </Dialog>
    );
  }
  return (
    <Dialog
      title="New token"
      keep
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="primary" type="submit" form={id} disabled={missing || make.isPending}>
            {make.isPending ? "Making it…" : "Make token"}
          </Button>
        </>
      }
    >
      <form id={id} className={css["form"]} onSubmit={submit}>
        <TextField label="Name" value={name} onChange={setName} maxLength={100} autoComplete="off" placeholder="nightly trigger" hint="Who or what uses it. The audit writes it as token:name." error={errors.get("/name")} />
        <div className={css["role"]}>
          <span aria-hidden>Role</span>
          <Segmented label="Role" value={role} onChange={setRole} options={roles.map((r) => ({ value: r.role, label: r.role }))} />
          <span className={css["muted"]}>{chosen?.says}</span>
          {errors.get("/role") && <span className={css["bad"]}>{errors.get("/role")}</span>}
        </div>
        <Checkbox label="Narrow it to some permissions" checked={narrow} onChange={setNarrow} hint="Give it what it needs and no more." />
        {narrow && (
          <fieldset className={css["scopes"]} aria-label="Permissions">
            {offered.map((p) => (
              <Checkbox
                key={p}
                label={p}
                checked={scopes.has(p)}
                onChange={(on) => {
                  const next = new Set(scopes);
                  if (on) next.add(p);
                  else next.delete(p);
                  setScopes(next);
                }}
              />
            ))}
          </fieldset>
        )}
        {errors.get("/scopes") && <span className={css["bad"]}>{errors.get("/scopes")}</span>}
        {role === "admin" && me?.permissions.includes("settings:admin") && (
          <Checkbox label="For the whole cluster" checked={cluster} onChange={setCluster} hint="It may also turn the kill switches, which are those of the whole database." />
        )}
        <Select label="Ends after" value={life} onChange={setLife} options={lives} error={errors.get("/expires_in_s")} />
        {make.isError && errors.size === 0 && (
          <p className={css["bad"]} role="alert">
            {make.error.message}
          </p>
        )}
      </form>
    </Dialog>
  );
}
