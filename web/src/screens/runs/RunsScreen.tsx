import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Refusal } from "../../api/client";
import { flowNamesQuery, flowQuery, queuesQuery } from "../../api/queries";
import { useMay } from "../../acts/useMay";
import { RunsTable } from "../../runs/RunsTable";
import { namedFlows, type Known } from "../../runs/suggest";
import { useRuns } from "../../runs/useRuns";
import { Button } from "../../ui/Button";
import { count, plural } from "../../ui/format";
import { Empty, Failure } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { BulkBar } from "./BulkBar";
import { Chips } from "./Chips";
import { loosened } from "./loosen";
import css from "./RunsScreen.module.css";
import { SearchBar } from "./SearchBar";
import { Views } from "./Views";

const route = getRouteApi("/runs");
const triggers = ["api", "cli", "page", "schedule", "child"];
const nobody: ReadonlySet<string> = new Set();

/** All runs: found by a search that is a part of the address, live, with verbs on those that are selected. */
export default function RunsScreen() {
  const { q = "" } = route.useSearch();
  const go = useNavigate({ from: "/runs" });
  const runs = useRuns(q);
  const known = useKnown(q, runs.rows);
  const search = (next: string) => void go({ search: (s) => ({ ...s, q: next }) });

  const [choice, setChoice] = useState<{ q: string; keys: ReadonlySet<string>; all: boolean }>({ q, keys: nobody, all: false });
  const { keys: selected, all } = choice.q === q ? choice : { keys: nobody, all: false };
  const select = (keys: ReadonlySet<string>) => setChoice({ q, keys, all: false });

  const refused = runs.error instanceof Refusal && runs.error.problem.code === "invalid" ? runs.error : undefined;
  const fault = refused && [...refused.fields.values(), refused.message].find((text) => text !== "");
  const more = runs.fresh.more;
  return (
    <Page
      fill
      title="Runs"
      name="Runs"
      aside={<Views q={q} />}
      actions={
        <span className={css["fresh"]} role="status">
          {(runs.fresh.count > 0 || more) && (
            <Button small kind="primary" onClick={runs.show}>
              {runs.fresh.count > 0 ? `${count(runs.fresh.count)}${more ? "+" : ""} new` : "There may be new ones"}
            </Button>
          )}
        </span>
      }
    >
      <div className={css["search"]}>
        <SearchBar q={q} onSearch={search} known={known} fault={fault} />
        <Chips q={q} flows={known.flows} onSearch={search} />
      </div>
      <Panel flush className={css["panel"]}>
        {runs.error && !refused && runs.rows.length === 0 ? (
          <Failure what="the runs" error={runs.error} retry={runs.retry} />
        ) : refused ? (
          <Empty title="The search cannot be read" action={<Button onClick={() => search("")}>Show all runs</Button>}>
            {fault}
          </Empty>
        ) : (
          <RunsTable runs={runs} fill selected={selected} onSelect={select} empty={<NoRuns q={q} runs={runs} onSearch={search} />} />
        )}
        <footer className={css["foot"]}>
          {selected.size > 0 ? (
            <BulkBar q={q} selected={selected} all={all} onAll={(on) => setChoice({ q, keys: selected, all: on })} onNone={() => select(nobody)} />
          ) : (
            <Reach runs={runs} />
          )}
        </footer>
      </Panel>
    </Page>
  );
}

/** How many rows there are, and how far back has been looked. */
function Reach({ runs }: { runs: ReturnType<typeof useRuns> }) {
  if (runs.loading || runs.error) return null;
  const n = runs.rows.length;
  if (n === 0 && !runs.hasMore) return null;
  return (
    <>
      <span>{runs.hasMore ? `The newest ${plural(n, "run")}` : `${plural(n, "run")}, all that ${n === 1 ? "is" : "are"} there`}</span>
      {runs.hasMore && runs.searchedTo && (
        <span>
          · searched back to <Time at={runs.searchedTo} />
        </span>
      )}
      {runs.stopped && (
        <Button small onClick={runs.goOn}>
          Search further back
        </Button>
      )}
      <span className={css["keys"]}>
        <kbd>/</kbd> search <kbd>j</kbd> <kbd>k</kbd> move <kbd>Enter</kbd> open <kbd>x</kbd> select <kbd>.</kbd> acts
      </span>
    </>
  );
}

function NoRuns({ q, runs, onSearch }: { q: string; runs: ReturnType<typeof useRuns>; onSearch: (q: string) => void }) {
  const may = useMay();
  if (runs.hasMore) {
    return (
      <Empty title="Nothing found yet" action={runs.stopped ? <Button onClick={runs.goOn}>Search further back</Button> : undefined}>
        {runs.searchedTo ? (
          <>
            Searched back to <Time at={runs.searchedTo} />.
          </>
        ) : (
          "Still looking further back."
        )}
      </Empty>
    );
  }
  if (q === "") {
    return (
      <Empty
        title="There are no runs yet"
        action={
          <Link to="/flows" className={css["start"]}>
            {may("runs:start") === undefined ? "Choose a flow to start" : "To the flows"}
          </Link>
        }
      >
        Start one here, with <code>ax run start FLOW</code>, or over the API.
      </Empty>
    );
  }
  const ways = loosened(q);
  return (
    <Empty
      title="No run matches"
      action={
        <div className={css["ways"]}>
          {ways.map((w) => (
            <Button key={w.q} small onClick={() => onSearch(w.q)}>
              {w.says}
            </Button>
          ))}
        </div>
      }
    >
      All terms must hold. Loosen one of them:
    </Empty>
  );
}

/** What there is to suggest: names of flows and queues, what the runs that are shown have, and searchable params of the flows that are named. */
function useKnown(q: string, rows: ReturnType<typeof useRuns>["rows"]): Known {
  const may = useMay();
  const flows = useQuery(flowNamesQuery).data;
  const queues = useQuery({ ...queuesQuery, enabled: may("fleet:read") === undefined, staleTime: 60_000 }).data;
  const params = useQueries({
    queries: namedFlows(q).map((flow) => ({ ...flowQuery(flow), retry: false })),
    combine: (all) => [...new Set(all.flatMap((f) => f.data?.searchable ?? []))].join("\n"),
  });
  return useMemo(() => {
    const seen = (of: (r: (typeof rows)[number]) => readonly string[], before: readonly string[] = []) => [...new Set([...before, ...rows.slice(0, 200).flatMap(of)])];
    return {
      flows: seen((r) => [r.flow], flows?.items.map((f) => f.name)),
      queues: seen((r) => [r.queue], queues?.items.map((x) => x.name)),
      triggers: seen((r) => [r.trigger], triggers),
      tags: seen((r) => Object.entries(r.tags ?? {}).map(([k, v]) => `${k}=${v}`)).toSorted(),
      params: params === "" ? [] : params.split("\n"),
    };
  }, [rows, flows, queues, params]);
}
