import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { act } from "../../acts/host";
import { moveCircuit } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import type { Schemas } from "../../api/client";
import { usePoll } from "../../api/live/useLive";
import { Button } from "../../ui/Button";
import { DataTable, type Column } from "../../ui/DataTable";
import { count, plural } from "../../ui/format";
import { Empty, Failure } from "../../ui/Notice";
import { useNow } from "../../ui/now";
import { Page, Panel } from "../../ui/Page";
import { SearchField } from "../../ui/SearchField";
import { ToneMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import css from "./CircuitsScreen.module.css";
import { idOf, inOrder, matches, meaning, toneOfCircuit } from "./figures";
import { OpenCircuit } from "./OpenCircuit";
import { circuitsQuery } from "./query";

type Circuit = Schemas["Circuit"];

const route = getRouteApi("/circuits");

/** The circuit breakers that hold work now or have held it before, and the way to open and close them by hand. */
export default function CircuitsScreen(): React.ReactNode {
  const { q = "" } = route.useSearch();
  const navigate = useNavigate({ from: "/circuits" });
  const circuits = useQuery({ ...circuitsQuery, refetchInterval: usePoll(3_000, 3_000) });
  const denied = useMay()("fleet:operate");
  const [opening, setOpening] = useState(false);
  const all = circuits.data?.items;
  const rows = useMemo(() => inOrder((all ?? []).filter((c) => matches(c, q))), [all, q]);
  const columns = useMemo(() => columnsOf(denied), [denied]);
  const open = all?.filter((c) => c.state !== "closed").length ?? 0;
  return (
    <Page
      title="Circuits"
      name="Circuits"
      fill
      aside={all && <span>{open > 0 ? `${plural(open, "circuit holds", "circuits hold")} work` : "none holds work"}</span>}
      actions={
        <>
          <SearchField label="Find circuits" placeholder="name, open, error …" value={q} onChange={(next) => void navigate({ search: (s) => ({ ...s, q: next }), replace: true })} width={320} />
          <Button disabled={denied !== undefined} title={denied} onClick={() => setOpening(true)}>
            Open a circuit…
          </Button>
        </>
      }
    >
      {circuits.isError && !all ? (
        <Failure what="the circuits" error={circuits.error} retry={() => void circuits.refetch()} />
      ) : (
        <>
          {circuits.isError && <p className={css["stale"]}>These figures are old: {circuits.error.message}</p>}
          <Panel flush fill>
            <DataTable
              label="Circuits"
              fill
              rows={rows}
              columns={columns}
              rowKey={idOf}
              rowHeight={48}
              loading={circuits.isPending}
              empty={
                q ? (
                  <Empty title="No circuit matches" action={<Button onClick={() => void navigate({ search: (s) => ({ ...s, q: undefined }), replace: true })}>Show all circuits</Button>} />
                ) : (
                  <Empty title="No circuit has ever opened">
                    A circuit opens after 5 failures in a row of all stages that name the same <code>stage.Downstream</code>. Its work waits then, and no attempts are burnt. It stands here from then on. You can also open one by hand, before
                    a maintenance.
                  </Empty>
                )
              }
            />
          </Panel>
        </>
      )}
      {opening && <OpenCircuit onClose={() => setOpening(false)} />}
    </Page>
  );
}

function Meaning({ circuit }: { circuit: Circuit }) {
  return meaning(circuit, useNow(circuit.state === "open" && !circuit.manual));
}

const columnsOf = (denied: string | undefined): Column<Circuit>[] => [
  {
    id: "name",
    head: "Circuit",
    width: "2fr",
    min: 150,
    cell: (c) => (
      <span className={css["two"]}>
        {c.kind === "handler" && c.name.includes("/") ? (
          <Link to="/flows/$flow" params={{ flow: c.name.slice(0, c.name.indexOf("/")) }} search={{ stage: c.name.slice(c.name.indexOf("/") + 1) }} className={css["name"]}>
            {c.name}
          </Link>
        ) : (
          <span className={css["name"]}>{c.name}</span>
        )}
        <span className={css["sub"]}>{c.kind}</span>
      </span>
    ),
  },
  {
    id: "state",
    head: "State",
    width: "2fr",
    min: 250,
    cell: (c) => (
      <span className={css["two"]}>
        <span className={css["mark"]} data-state={c.state}>
          <ToneMark tone={toneOfCircuit(c)} size={14} /> {c.state}
          {c.manual && " by hand"}
        </span>
        <span className={css["sub"]}>
          <Meaning circuit={c} />
        </span>
      </span>
    ),
  },
  { id: "failures", head: "Failures", title: "In a row", width: 84, align: "right", cell: (c) => count(c.failures) },
  { id: "opened", head: "Opened", width: 112, align: "right", cell: (c) => <Time at={c.opened_at} ago /> },
  {
    id: "error",
    head: "Last error",
    width: "3fr",
    min: 150,
    cell: (c) =>
      c.last_error ? (
        <span className={css["error"]} title={c.last_error}>
          {c.last_error}
        </span>
      ) : (
        <span className={css["sub"]}>–</span>
      ),
  },
  {
    id: "change",
    head: "Last change",
    width: "2fr",
    min: 170,
    cell: (c) =>
      c.actor ? (
        <span className={css["two"]} title={c.reason}>
          <span className={css["cut"]}>{c.reason ?? "no reason given"}</span>
          <span className={css["sub"]}>
            {c.actor}, <Time at={c.updated_at} ago />
          </span>
        </span>
      ) : (
        <span className={css["sub"]}>–</span>
      ),
  },
  {
    id: "acts",
    head: "Actions",
    width: 136,
    align: "right",
    cell: (c) => (
      <span className={css["acts"]}>
        <Button small disabled={denied !== undefined || (c.state === "open" && c.manual)} title={c.state === "open" && c.manual ? "It is held open by hand already" : denied} aria-label={`Open circuit ${c.name}`} onClick={() => act(moveCircuit(c.kind, c.name, "open"))}>
          Open
        </Button>
        <Button small disabled={denied !== undefined || c.state === "closed"} title={c.state === "closed" ? "It is closed" : denied} aria-label={`Close circuit ${c.name}`} onClick={() => act(moveCircuit(c.kind, c.name, "close"))}>
          Close
        </Button>
      </span>
    ),
  },
];
