import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Refusal } from "../api/client";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { TextField } from "../ui/TextField";
import { toast } from "../ui/toast";
import { useSettled } from "../ui/useSettled";
import { ActFields, inputOf, startFields, type FieldValues } from "./ActFields";
import { ActPreview, ActReport } from "./ActPreview";
import css from "./ActDialog.module.css";
import { extent, outcomeOf } from "./outcome";
import { reasons } from "./reasons";
import type { ActInput, ActRequest } from "./request";

/**
 * The dialog of an operator's verb: it asks at once what would happen, takes a reason, does it and says what happened. `children` is a
 * form of the caller's; `input` is what that form holds, so that it is asked again when it changes, and `ready` false keeps it from being
 * asked and done while the form is incomplete.
 */
export function ActDialog({
  title,
  target,
  verb,
  run,
  stale,
  report = false,
  done,
  onClose,
  children,
  input,
  ready = true,
}: ActRequest & {
  onClose: () => void;
  /** Gets what is wrong with each field, by JSON pointer. */
  children?: React.ReactNode | ((errors: ReadonlyMap<string, string>) => React.ReactNode);
  input?: unknown;
  ready?: boolean;
}) {
  const id = useId();
  const cache = useQueryClient();
  const [fields, setFields] = useState<FieldValues>(startFields);
  const [reason, setReason] = useState("");
  const [known] = useState(reasons.get);

  const own = inputOf(verb, fields);
  const complete = ready && own.problem === undefined;
  const wanted = JSON.stringify([own.input, input]);
  const asked = useSettled(wanted);
  const ask = useQuery({
    queryKey: ["ask", id, asked],
    queryFn: () => run({ ...own.input, dry_run: true }).then(outcomeOf),
    enabled: complete && asked === wanted,
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
    refetchOnWindowFocus: false,
    placeholderData: (before) => before,
  });
  const act = useMutation({
    mutationFn: (full: ActInput) => run(full).then(outcomeOf),
    onSuccess: (outcome) => {
      reasons.add(reason.trim());
      for (const queryKey of stale) void cache.invalidateQueries({ queryKey });
      done?.();
      const refused = outcome.runs?.filter((r) => r.error).length ?? 0;
      if (report && (refused > 0 || outcome.more)) return;
      toast({ title: `${verb.past} ${target}`, ...(outcome.touched.length === 0 ? { text: "Everything was so already." } : extent(outcome) ? { text: extent(outcome) } : {}) });
      onClose();
    },
  });

  const refusal = act.error ?? ask.error;
  const errors: ReadonlyMap<string, string> = refusal instanceof Refusal ? refusal.fields : new Map();
  const nothing = ask.data !== undefined && ask.data.touched.length === 0;
  // A question that the server could not answer does not keep an operator from acting; one that it refused does.
  const refused = ask.error instanceof Refusal && ask.error.problem.status >= 400 && ask.error.problem.status < 500;
  const able = complete && asked === wanted && !act.isPending && !ask.isPlaceholderData && !refused && (ask.isError || (ask.data !== undefined && !nothing));
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (able) act.mutate({ ...own.input, dry_run: false, ...(reason.trim() ? { reason: reason.trim() } : {}) });
  };

  if (act.data && report) {
    return (
      <Dialog title={title} onClose={onClose} size="large" footer={<Button onClick={onClose}>Close</Button>}>
        <ActReport outcome={act.data} past={verb.past} />
        {act.data.more && <p>More runs match than one act takes. Do it again for the rest.</p>}
      </Dialog>
    );
  }
  return (
    <Dialog
      title={title}
      description={verb.says}
      onClose={onClose}
      keep={act.isPending}
      footer={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button type="submit" form={id} kind={verb.danger ? "danger" : "primary"} disabled={!able}>
            {act.isPending ? "Doing it…" : verb.name}
          </Button>
        </>
      }
    >
      <form id={id} className={css["form"]} onSubmit={submit}>
        {typeof children === "function" ? children(errors) : children}
        <ActFields verb={verb} values={fields} onChange={setFields} errors={errors} problem={own.problem} />
        <ActPreview outcome={ask.data} asking={ask.isFetching || asked !== wanted} error={act.error ?? ask.error} waiting={complete ? undefined : (own.problem ?? "Fill in the form first.")} again={ask.isError && !refused ? () => void ask.refetch() : undefined} />
        <TextField label="Reason" optional value={reason} onChange={setReason} suggestions={known} maxLength={1000} hint="The audit keeps it." error={errors.get("/reason")} autoComplete="off" />
      </form>
    </Dialog>
  );
}
