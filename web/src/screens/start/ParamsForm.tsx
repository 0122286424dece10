import { print, Raw, settle, type Json } from "../../params/json";
import { rootField } from "../../params/schema";
import { Segmented } from "../../ui/Segmented";
import { TextArea } from "../../ui/TextArea";
import { FieldView } from "./FieldView";
import css from "./StartScreen.module.css";

/** How the params are edited. */
export type Mode = "form" | "json";

/** Whether a form can show the params: they are a value, and not text that is none yet. */
export const canForm = (params: Json): boolean => !(settle(params) instanceof Raw);

/** The switch between form and JSON. */
export function ModeSwitch({ mode, params, onMode, onParams }: { mode: Mode; params: Json; onMode: (mode: Mode) => void; onParams: (params: Json) => void }) {
  const can = canForm(params);
  return (
    <Segmented
      label="Edit the params as"
      value={mode}
      onChange={(next) => {
        if (next === "form") onParams(settle(params));
        onMode(next);
      }}
      options={[
        { value: "form", label: "Form", disabled: !can, ...(can ? {} : { title: "The text is not JSON yet" }) },
        { value: "json", label: "JSON" },
      ]}
    />
  );
}

/** The params, as a form of their schema or as JSON: both are the same value, so what the form does not know stays. */
export function ParamsForm({ root, mode, params, onParams, error }: { root: Json; mode: Mode; params: Json; onParams: (params: Json) => void; error: string | undefined }) {
  const field = rootField(root);
  if (mode === "json" || !canForm(params)) {
    const text = params instanceof Raw ? params.text : print(params, 2);
    return (
      <div data-pointer="">
        <TextArea
          mono
          bare
          label="Params as JSON"
          rows={Math.min(30, Math.max(8, text.split("\n").length + 1))}
          value={text}
          spellCheck={false}
          error={error}
          onChange={(next) => onParams(new Raw(next))}
          className={css["json"] ?? ""}
        />
      </div>
    );
  }
  if (field.kind === "object" && Object.keys(field.schema["properties"] ?? {}).length === 0) return <p className={css["muted"]}>The flow takes no params.</p>;
  return <FieldView field={{ ...field, title: "" }} value={params} path={[]} onChange={(v) => onParams(v ?? {})} />;
}
