import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { act } from "../../acts/host";
import { discardDead } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import { answer, api } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";
import { Button } from "../../ui/Button";
import { count, plural, shortId } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Empty, Failure, Loading } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { Segmented } from "../../ui/Segmented";
import { Select } from "../../ui/Select";
import css from "./Dead.module.css";
import { DeadGroups, keyOf } from "./DeadGroups";
import { ages, filterOf, filterWords, type DeadSearch } from "./filter";
import { Going } from "./Going";
import { discardGroups, replayGroups, replayMatching } from "./requests";

const route = getRouteApi("/dead-letters");

/** The most groups that are read. */
const most = 200;

/** What has failed for good, by reason, to be replayed or given up. */
export default function DeadScreen() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [opened] = useState(() => Date.now());
  const { flow, stage, fingerprint, code, run, since } = search;
  const filter = useMemo(() => filterOf({ flow, stage, fingerprint, code, run, since }, opened), [flow, stage, fingerprint, code, run, since, opened]);
  const poll = usePoll(10_000, 10_000);
  const groups = useQuery({
    queryKey: keys.dead("groups", filter),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/dead-letters/groups", { params: { query: { ...filter, limit: most } }, signal })),
    refetchInterval: poll,
    placeholderData: (before) => before,
  });
  // What can be chosen is what is dead at all.
  const everything = useQuery({
    queryKey: keys.dead("groups", {}),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/dead-letters/groups", { params: { query: { limit: most } }, signal })),
    staleTime: 30_000,
  });
  const items = groups.data?.items ?? [];
  const all = everything.data?.items ?? [];
  // Groups that have gone meanwhile are no longer there to act on.
  const chosen = items.filter((g) => selected.has(keyOf(g)));
  const letters = items.reduce((n, g) => n + g.count, 0);
  const filtered = Object.keys(filter).length > 0;
  const set = (params: DeadSearch) => void navigate({ search: (s) => ({ ...s, ...params }), replace: true });
  const began = (ids: string[]) => void navigate({ to: "/replays", search: ids.length === 1 && ids[0] ? { replay: ids[0] } : {} });
  const refused = may("runs:operate") ?? (items.length === 0 ? "No dead letter matches." : filtered || chosen.length > 0 ? undefined : "Select groups, or choose a flow, a stage or a code first: a filter has to restrict something.");
  return (
    <Page
      title="Dead letters"
      name="Dead letters"
      aside={
        groups.data && (
          <span role="status">
            {count(letters)} in {plural(items.length, "group")}
            {items.length >= most && " (the largest)"}
          </span>
        )
      }
      actions={
        <>
          {chosen.length > 0 && (
            <span role="status">
              {plural(
                chosen.reduce((n, g) => n + g.count, 0),
                "letter",
              )}{" "}
              in {plural(chosen.length, "group")} selected
            </span>
          )}
          <Button kind="primary" disabled={refused !== undefined} title={refused} onClick={() => act(chosen.length > 0 ? replayGroups(chosen, filter, began) : replayMatching(filter, filterWords(filter), began))}>
            {chosen.length > 0 ? "Replay selected…" : "Replay all that match…"}
          </Button>
          <Button kind="danger" disabled={refused !== undefined} title={refused} onClick={() => act(chosen.length > 0 ? discardGroups(chosen, filter) : discardDead(filter, filterWords(filter)))}>
            {chosen.length > 0 ? "Discard selected…" : "Discard all that match…"}
          </Button>
        </>
      }
    >
      <div className={css["filters"]}>
        <Choice label="Flow" value={flow} values={all.map((g) => g.flow)} onChange={(next) => set({ flow: next, stage: undefined, fingerprint: undefined })} />
        <Choice label="Stage" value={stage} values={all.filter((g) => !flow || g.flow === flow).map((g) => g.stage)} onChange={(next) => set({ stage: next, fingerprint: undefined })} />
        <Choice label="Code" value={code} values={all.filter((g) => (!flow || g.flow === flow) && (!stage || g.stage === stage)).map((g) => g.example.code)} onChange={(next) => set({ code: next })} />
        <Segmented label="Died within" value={since ?? ""} onChange={(next) => set({ since: next || undefined })} options={[{ value: "", label: "Any time" }, ...ages.map((a) => ({ value: a, label: `Last ${a}` }))]} />
        {run && (
          <span className={css["chip"]}>
            run {shortId(run)}
            <Button kind="quiet" small aria-label="Take the run out of the filter" onClick={() => set({ run: undefined })}>
              <Icon name="close" size={10} />
            </Button>
          </span>
        )}
        {fingerprint && (
          <span className={css["chip"]}>
            group {fingerprint.slice(0, 8)}
            <Button kind="quiet" small aria-label="Take the group out of the filter" onClick={() => set({ fingerprint: undefined })}>
              <Icon name="close" size={10} />
            </Button>
          </span>
        )}
        {filtered && (
          <Button kind="quiet" small onClick={() => void navigate({ search: {}, replace: true })}>
            Clear
          </Button>
        )}
      </div>
      <Going />
      <Panel flush>
        {groups.isError ? (
          <Failure what="the dead letters" error={groups.error} retry={() => void groups.refetch()} />
        ) : groups.isPending ? (
          <Loading what="the dead letters" lines={8} />
        ) : items.length === 0 ? (
          <Empty title={filtered ? "No dead letter matches" : "Nothing is dead"} action={filtered && <Button onClick={() => void navigate({ search: {}, replace: true })}>Show all</Button>}>
            {filtered ? "Take a part of the filter away to see more." : <>Work that is out of attempts, has failed permanently or is over its time is kept here until somebody replays it or gives it up. <Link to="/runs">See the runs</Link></>}
          </Empty>
        ) : (
          <DeadGroups key={JSON.stringify(filter)} groups={items} filter={filter} selected={selected} onSelect={setSelected} began={began} />
        )}
      </Panel>
    </Page>
  );
}

/** One of the values that there are, or any. */
function Choice({ label, value = "", values, onChange }: { label: string; value: string | undefined; values: readonly string[]; onChange: (value: string | undefined) => void }) {
  const there = [...new Set([...values, value].filter((v) => v !== ""))].sort();
  // An asterisk is no name, and an empty value would be none.
  return <Select bare label={label} value={value || "*"} onChange={(next) => onChange(next === "*" ? undefined : next)} options={[{ value: "*", label: `Any ${label.toLowerCase()}` }, ...there.map((v) => ({ value: v, label: v }))]} />;
}
