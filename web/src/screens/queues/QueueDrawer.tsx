import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { act } from "../../acts/host";
import { clearQueue, holdQueue, setQueue } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import { Refusal, type Schemas } from "../../api/client";
import { Button } from "../../ui/Button";
import { Drawer } from "../../ui/Drawer";
import { count, duration } from "../../ui/format";
import { KeyValues } from "../../ui/KeyValues";
import { toast } from "../../ui/toast";
import { bodyOf, defaults, draftOf, fault, type Draft } from "./config";
import { pressureOf } from "./figures";
import { Hold } from "./Hold";
import css from "./QueueDrawer.module.css";
import { QueueForm } from "./QueueForm";

type Queue = Schemas["Queue"];

/** A queue that nobody has configured and that holds nothing: the defaults. */
const unused = (name: string): Queue => ({
  name,
  configured: false,
  capacity: 0,
  concurrency: 0,
  alert_at: defaults.alert / 100,
  refuse_at: defaults.refuse / 100,
  pause_at: defaults.pause / 100,
  resume_at: defaults.resume / 100,
  core_level: defaults.core,
  low_level: defaults.low,
  version: 0,
  ready: 0,
  running: 0,
  in_flight: 0,
  oldest_s: 0,
  depth: 0,
  pressure: "normal",
});

/** A queue's figures and its settings' form. The form is of the version that was read when it was opened, until it is read anew. */
export function QueueDrawer({ name, queue = unused(name), onClose }: { name: string; queue: Queue | undefined; onClose: () => void }) {
  const denied = useMay()("fleet:operate");
  const [base, setBase] = useState(queue);
  const [draft, setDraft] = useState<Draft>(() => draftOf(queue));
  const before = JSON.stringify(bodyOf(draftOf(base), base.version));
  const changed = JSON.stringify(bodyOf(draft, base.version)) !== before;
  const moved = queue.version !== base.version;
  // Nobody has typed anything: the form follows what somebody else has changed.
  if (moved && !changed) {
    setBase(queue);
    setDraft(draftOf(queue));
  }
  const reread = () => {
    setBase(queue);
    setDraft(draftOf(queue));
    check.reset();
  };
  // What is wrong is said at the form's fields, before the dialog asks for a reason.
  const check = useMutation({
    mutationFn: () => setQueue(name, bodyOf(draft, base.version)).run({ dry_run: true }),
    onSuccess: (result) => {
      if ("touched" in result && result.touched.length === 0) toast({ title: `Queue ${name} is so already` });
      else act(setQueue(name, bodyOf(draft, base.version)));
    },
  });
  const refusal = check.error instanceof Refusal ? check.error : undefined;
  const problem = fault(draft);
  const conflict = (moved && changed) || refusal?.problem.code === "conflict";
  const change = (next: Draft) => {
    setDraft(next);
    // What was wrong may be mended by this change, at whichever field it was said.
    if (refusal && !conflict) check.reset();
  };
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    check.mutate();
  };
  const pressure = pressureOf(queue);
  return (
    <Drawer
      onClose={onClose}
      modal={false}
      title={`Queue ${name}`}
      actions={
        <Button small disabled={denied !== undefined} title={denied} onClick={() => act(holdQueue(name, queue.hold ? "resume" : "pause"))}>
          {queue.hold ? "Resume" : "Pause"}
        </Button>
      }
    >
      <div className={css["drawer"]}>
        <KeyValues
          items={[
            {
              name: "Waiting",
              value: (
                <Link to="/runs" search={{ q: `queue:${name} state:open` }}>
                  {count(queue.ready)} tasks
                </Link>
              ),
            },
            { name: "Oldest", value: queue.ready > 0 ? duration(queue.oldest_s) : "–" },
            { name: "Running at once", value: queue.concurrency > 0 ? `${count(queue.running)} of ${count(queue.concurrency)}` : count(queue.running) },
            { name: "In flight", value: count(queue.in_flight) },
            queue.capacity > 0 && { name: "Depth", value: `${count(queue.depth)} of ${count(queue.capacity)}` },
            pressure && { name: "Pressure", value: `${pressure.word}: ${pressure.says}` },
            queue.hold && { name: "Hold", value: <Hold hold={queue.hold} /> },
            { name: "Settings", value: base.version > 0 ? `version ${base.version}` : "the defaults; nobody has configured it" },
          ]}
        />
        {conflict && (
          <div className={css["conflict"]} role="alert">
            <p>Somebody else has changed this queue{moved ? ` (version ${queue.version}, yours began at ${base.version})` : ""}. Saving would undo that, so it is refused.</p>
            <Button small onClick={reread}>
              Take over what is there now
            </Button>
          </div>
        )}
        {refusal && !conflict && refusal.fields.size === 0 && (
          <p className={css["conflict"]} role="alert">
            {refusal.message}
          </p>
        )}
        <form onSubmit={submit} className={css["form"]} aria-label={`Settings of queue ${name}`}>
          <QueueForm draft={draft} onChange={change} errors={refusal?.fields ?? new Map()} />
          {problem && <p className={css["problem"]}>{problem}</p>}
          {denied && <p className={css["note"]}>{denied}</p>}
          <div className={css["foot"]}>
            <Button kind="danger" disabled={denied !== undefined || queue.version === 0} title={queue.version === 0 ? "It has the defaults" : denied} onClick={() => act(clearQueue(name))}>
              Reset to the defaults
            </Button>
            <Button disabled={!changed} onClick={reread}>
              Undo
            </Button>
            <Button kind="primary" type="submit" disabled={!changed || problem !== undefined || denied !== undefined || conflict || check.isPending}>
              {check.isPending ? "Checking…" : "Save…"}
            </Button>
          </div>
        </form>
      </div>
    </Drawer>
  );
}
