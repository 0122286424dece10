import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { answer, api } from "../../api/client";
import { keys } from "../../api/keys";
import { flowQuery } from "../../api/queries";
import { Button } from "../../ui/Button";
import { plural } from "../../ui/format";
import { Failure, Loading } from "../../ui/Notice";
import { Time } from "../../ui/Time";
import css from "./FlowScreen.module.css";
import { fieldText, stageChanges } from "./versionDiff";

/** The versions of a flow, newest first, and what the stages of the chosen one have that those of the one before have not. */
export function Versions({ flow, shown }: { flow: string; shown: Schemas["Flow"] }) {
  const go = useNavigate({ from: "/flows/$flow" });
  const list = useInfiniteQuery({
    queryKey: keys.flow(flow, "versions"),
    queryFn: ({ pageParam, signal }) => answer(api.GET("/api/v1/flows/{flow}/versions", { params: { path: { flow }, query: { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor,
  });
  if (list.isPending) return <Loading what="versions" />;
  if (list.isError) return <Failure what="the versions" error={list.error} retry={() => void list.refetch()} />;
  const versions = list.data.pages.flatMap((p) => p.items);
  const at = versions.findIndex((v) => v.version === shown.version);
  const before = at >= 0 ? versions[at + 1] : undefined;
  return (
    <div className={css["versions"]}>
      <ol className={css["versionList"]} aria-label="Versions">
        {versions.map((v) => (
          <li key={v.version}>
            <Link to="." search={(s) => ({ ...s, version: v.newest ? "" : v.version })} className={css["version"]} data-current={v.version === shown.version || undefined} aria-current={v.version === shown.version ? "true" : undefined} activeOptions={{ exact: true, includeSearch: true }}>
              <code>{v.version.slice(0, 12)}</code>
              <span className={css["muted"]}>
                {v.newest && "newest · "}
                <Time at={v.created_at} />
              </span>
            </Link>
          </li>
        ))}
        {list.hasNextPage && (
          <li>
            <Button small onClick={() => void list.fetchNextPage()}>
              Older versions
            </Button>
          </li>
        )}
      </ol>
      <div className={css["versionDiff"]}>
        {before ? (
          <Changes flow={flow} before={before.version} after={shown} onBefore={() => void go({ search: (s) => ({ ...s, version: before.version }) })} />
        ) : (
          <p className={css["muted"]}>{list.hasNextPage ? "Load older versions to compare." : "This is the first version: there is none before it to compare with."}</p>
        )}
      </div>
    </div>
  );
}

function Changes({ flow, before, after, onBefore }: { flow: string; before: string; after: Schemas["Flow"]; onBefore: () => void }) {
  const old = useQuery(flowQuery(flow, before));
  if (old.isPending) return <Loading what="the version before" />;
  if (old.isError) return <Failure what="the version before" error={old.error} retry={() => void old.refetch()} />;
  const changes = stageChanges(old.data.graph.stages, after.graph.stages);
  const schema = JSON.stringify(old.data.params_schema) !== JSON.stringify(after.params_schema);
  return (
    <>
      <p>
        Since{" "}
        <button type="button" className={css["asLink"]} onClick={onBefore}>
          <code>{before.slice(0, 12)}</code>
        </button>
        : {changes.length === 0 ? "no stage differs" : `${plural(changes.length, "stage")} ${changes.length === 1 ? "differs" : "differ"}`}
        {schema && "; the params schema differs"}.
      </p>
      <ul className={css["stageChanges"]}>
        {changes.map((c) => (
          <li key={c.name}>
            <strong>{c.name}</strong> <span data-change={c.kind}>{c.kind}</span>
            {c.fields.map((f) => (
              <div key={f.path} className={css["fieldChange"]}>
                <code>{f.path.slice(1).replaceAll("/", ".")}</code>
                {f.kind !== "added" && <del>{fieldText(f.before)}</del>}
                {f.kind !== "removed" && <ins>{fieldText(f.after)}</ins>}
              </div>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}
