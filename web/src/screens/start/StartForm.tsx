import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import type { Schemas } from "../../api/client";
import { queuesQuery, serverQuery } from "../../api/queries";
import { useMay } from "../../acts/useMay";
import { comparable, parse, print, settle, type Json } from "../../params/json";
import { rootField } from "../../params/schema";
import { mask, withoutSecrets } from "../../params/values";
import { Button } from "../../ui/Button";
import { plural } from "../../ui/format";
import { Loading } from "../../ui/Notice";
import { Panel } from "../../ui/Page";
import { secretPlace, type Start } from "./copyAs";
import { CopyAs } from "./CopyAs";
import { changesOf, DiffList } from "./DiffList";
import { focusFault } from "./focusFault";
import { FormContext } from "./formContext";
import { newKey, OptionFields } from "./OptionFields";
import { readOptions, type Options } from "./options";
import { canForm, ModeSwitch, ParamsForm, type Mode } from "./ParamsForm";
import { RecentList } from "./RecentList";
import css from "./StartScreen.module.css";
import { useStart, type Verdict } from "./useStart";

const StageGraph = lazy(() => import("../../graph/StageGraph"));

/** The form that starts a run. `base` are the params of the run that is started again; `begin` is what the form begins with. */
export function StartForm({ flow, root, base, begin }: { flow: Schemas["Flow"]; root: Json; base: Json | undefined; begin: Json }) {
  const form = useRef<HTMLFormElement>(null);
  const go = useNavigate();
  const may = useMay();
  const refusal = may("runs:start");
  const [params, setParams] = useState(begin);
  const [mode, setMode] = useState<Mode>("form");
  const [options, setOptions] = useState<Options>(() => ({ level: "", queue: "", key: newKey(), tags: "", begin: "now", after: "", at: "" }));
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [pressed, setPressed] = useState(false);

  const field = useMemo(() => rootField(root), [root]);
  const read = readOptions(options);
  const { faults: optionFaults, ...said } = read;
  const start: Start = { flow: flow.name, params: settle(params), ...said };
  const state = useStart(root, start, optionFaults, refusal === undefined, (run) => void go({ to: "/runs/$run", params: { run } }));

  const changes = useMemo(() => (base === undefined ? [] : changesOf(comparable(withoutSecrets(root, field, base, mask) ?? null), comparable(withoutSecrets(root, field, settle(params), mask) ?? null))), [base, params, root, field]);
  const changed = useMemo(() => new Set(changes.map((c) => c.path)), [changes]);
  // What is wrong is said where somebody has been, and everywhere once they pressed Start.
  const errors = new Map([...state.wrong.params].filter(([at]) => pressed || touched.has(at)));
  const shown = mode === "json" ? joined(state.wrong.params, pressed) : undefined;

  const press = () => {
    setPressed(true);
    if (state.verdict.is === "wrong") focusFault(form.current, [...state.wrong.params.keys(), ...state.wrong.others.keys()]);
    else if (refusal === undefined && !state.starting) state.start();
  };
  const onEnter = useEffectEvent(press);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
      event.preventDefault();
      onEnter();
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  }, []);
  const queues = useQuery({ ...queuesQuery, enabled: may("fleet:read") === undefined, staleTime: 60_000 }).data;
  const auth = useQuery(serverQuery).data?.auth !== "none";
  const hidden = useMemo(() => withoutSecrets(root, field, settle(params), secretPlace) ?? null, [root, field, params]);
  const context = useMemo(() => ({ root, changed, touch: (at: string) => setTouched((old) => (old.has(at) ? old : new Set(old).add(at))) }), [root, changed]);

  return (
    <form
      ref={form}
      className={css["columns"]}
      noValidate
      // Enter in a field starts nothing: a run is started by its button, or by Ctrl+Enter.
      onSubmit={(event) => event.preventDefault()}
    >
      <div className={css["main"]}>
        <Panel
          title="Params"
          aside={
            <>
              {base !== undefined && changes.length > 0 && (
                <Button kind="quiet" small onClick={() => setParams(begin)}>
                  Back to the run’s
                </Button>
              )}
              <ModeSwitch mode={canForm(params) ? mode : "json"} params={params} onMode={setMode} onParams={setParams} />
            </>
          }
        >
          {flow.description && <p className={css["about"]}>{flow.description}</p>}
          {base !== undefined && print(base).includes(mask) && <p className={css["secretNote"]}>Some of the run’s params are secrets, which the page is not told: type them anew.</p>}
          <FormContext value={{ ...context, errors }}>
            <ParamsForm root={root} mode={mode} params={params} onParams={setParams} error={shown} />
          </FormContext>
        </Panel>
        <Panel title="Run">
          <OptionFields options={options} onChange={setOptions} errors={state.wrong.others} queues={queues?.items.map((q) => q.name) ?? []} />
        </Panel>
      </div>
      <div className={css["side"]}>
        <Panel className={css["go"]}>
          <VerdictLine verdict={state.verdict} refusal={refusal} failed={state.failed} onShow={() => (setPressed(true), focusFault(form.current, [...state.wrong.params.keys(), ...state.wrong.others.keys()]))} />
          <Button kind="primary" onClick={press} aria-keyshortcuts="Control+Enter" disabled={refusal !== undefined || state.starting} className={css["startButton"] ?? ""} title="Ctrl+Enter">
            {state.starting ? "Starting…" : "Start run"}
          </Button>
        </Panel>
        {base !== undefined && (
          <Panel title="Changes" aside={plural(changes.length, "change")}>
            <DiffList changes={changes} />
          </Panel>
        )}
        <Panel title="Recent params">
          <RecentList flow={flow.name} onUse={(p) => (setParams(parse(print(p))), setPressed(false))} />
        </Panel>
        <Panel title="Stages" aside={plural(flow.graph.stages.length, "stage")} flush>
          <div className={css["graph"]}>
            <Suspense fallback={<Loading what="the graph" />}>
              <StageGraph label={`Graph of ${flow.name}`} stages={flow.graph.stages} layoutKey={`${flow.name}@${flow.version}`} />
            </Suspense>
          </div>
        </Panel>
        <Panel title="Copy as">
          <CopyAs start={{ ...start, params: hidden }} auth={auth} secrets={print(hidden).includes(secretPlace)} />
        </Panel>
      </div>
    </form>
  );
}

/** All that is wrong with the params, for their JSON. */
function joined(wrong: ReadonlyMap<string, string>, pressed: boolean): string | undefined {
  const list = [...wrong].filter(([at]) => pressed || at === "");
  return list.length === 0 ? undefined : list.map(([at, text]) => (at ? `${at}: ${text}` : text)).join("\n");
}

/** Whether the run could start now, as the API sees it. */
function VerdictLine({ verdict, refusal, failed, onShow }: { verdict: Verdict; refusal: string | undefined; failed: Error | null; onShow: () => void }) {
  if (refusal !== undefined) return <p className={css["bad"]}>You may look, but not start runs. {refusal}</p>;
  return (
    <div className={css["verdict"]} role="status">
      {verdict.is === "checking" && <span className={css["muted"]}>Checking…</span>}
      {verdict.is === "good" && !verdict.existing && <span className={css["good"]}>The params are good. It can start.</span>}
      {verdict.is === "good" && verdict.existing && <span className={css["warn"]}>A run with this key exists: Start opens that one. Make a new key for another run.</span>}
      {verdict.is === "wrong" && (
        <button type="button" className={css["wrong"]} onClick={onShow}>
          {verdict.count === 1 ? "1 field needs something" : `${verdict.count} fields need something`}
        </button>
      )}
      {verdict.is === "refused" && <span className={css["bad"]}>{verdict.error.message}</span>}
      {failed && verdict.is !== "refused" && verdict.is !== "wrong" && <span className={css["bad"]}>{failed.message}</span>}
    </div>
  );
}
