import { print, type Json } from "../../params/json";
import { choices, forms, itemOf, properties, rootField, type Field } from "../../params/schema";
import css from "./FlowScreen.module.css";

/** What a flow takes, field by field, as its schema says. */
export function ParamsDoc({ schema, searchable }: { schema: Json; searchable: readonly string[] }) {
  const root = rootField(schema);
  const all = properties(schema, root);
  if (all.length === 0) return <p className={css["muted"]}>{root.kind === "any" ? "Any JSON: the flow declares no schema." : "The flow takes no params."}</p>;
  return <Rows root={schema} fields={all} depth={0} searchable={new Set(searchable)} />;
}

function Rows({ root, fields, depth, searchable }: { root: Json; fields: readonly Field[]; depth: number; searchable: ReadonlySet<string> }) {
  return (
    <dl className={css["params"]} data-nested={depth > 0 || undefined}>
      {fields.map((f) => {
        const item = f.kind === "list" || f.kind === "map" ? itemOf(root, f) : undefined;
        const inner = f.kind === "object" ? properties(root, f) : item?.kind === "object" ? properties(root, item) : [];
        return (
          <div key={f.name} className={css["param"]}>
            <dt>
              <code>{f.name}</code>
              {f.required && <span className={css["required"]}>required</span>}
              {f.secret && <span className={css["required"]}>secret</span>}
              {depth === 0 && searchable.has(f.name) && (
                <span className={css["muted"]} title={`Runs are found by param.${f.name}:value`}>
                  searchable
                </span>
              )}
            </dt>
            <dd>
              <span className={css["type"]}>{typeText(root, f)}</span>
              {f.title !== f.name && <span> {f.title}.</span>}
              {f.description && <span> {f.description}</span>}
              {f.default !== undefined && !f.secret && (
                <span className={css["muted"]}>
                  {" "}
                  Default <code>{print(f.default)}</code>.
                </span>
              )}
              {/* Schemas may hold themselves: three levels tell enough. */}
              {inner.length > 0 && depth < 3 && <Rows root={root} fields={inner} depth={depth + 1} searchable={searchable} />}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** What a field holds, in words. */
function typeText(root: Json, f: Field): string {
  const { schema } = f;
  const or = f.nullable ? " or null" : "";
  switch (f.kind) {
    case "text":
      return (typeof schema["format"] === "string" ? schema["format"] : "text") + or;
    case "number": {
      const range = [schema["minimum"] === undefined ? "" : `≥ ${print(schema["minimum"])}`, schema["maximum"] === undefined ? "" : `≤ ${print(schema["maximum"])}`].filter((s) => s).join(", ");
      return `${schema["type"] === "integer" ? "whole number" : "number"}${range ? ` ${range}` : ""}${or}`;
    }
    case "boolean":
      return `yes or no${or}`;
    case "choice":
      return `${choices(f)
        .map((c) => c.label)
        .join(" | ")}${or}`;
    case "constant":
      return print(schema["const"] ?? null);
    case "list": {
      const item = itemOf(root, f);
      return `list of ${item ? typeText(root, item) : "anything"}${or}`;
    }
    case "map": {
      const item = itemOf(root, f);
      return `names with ${item ? typeText(root, item) : "anything"}${or}`;
    }
    case "forms":
      return (
        forms(root, f)
          .map((form) => form.title)
          .join(" or ") + or
      );
    case "object":
      return `object${or}`;
    case "any":
      return "any JSON";
  }
}
