import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { act } from "../../acts/host";
import { cancelReplay } from "../../acts/requests";
import { useMay } from "../../acts/useMay";
import { answer, api } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";
import { Button, buttonClass } from "../../ui/Button";
import { count, duration, percent, rate } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { KeyValues } from "../../ui/KeyValues";
import { Failure, Loading } from "../../ui/Notice";
import { Panel } from "../../ui/Page";
import { StateBar } from "../../ui/StateBar";
import { ToneMark } from "../../ui/StateMark";
import { Time } from "../../ui/Time";
import css from "./Replays.module.css";
import { filterParts, going, leftOf, says, tones } from "./states";

/** One replay: how far it is, how its canary does, what it was asked for. It is read every second while it goes on. */
export function ReplayDetail({ id, onClose }: { id: string; onClose: () => void }) {
  const may = useMay();
  const poll = usePoll(1000, 1000);
  const replay = useQuery({
    queryKey: keys.replays("one", id),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/replays/{replay}", { params: { path: { replay: id } }, signal })),
    refetchInterval: (query) => (query.state.data && !going(query.state.data) ? false : poll),
  });
  const r = replay.data;
  const close = (
    <Button kind="quiet" small aria-label="Close the replay" onClick={onClose}>
      <Icon name="close" size={12} />
    </Button>
  );
  if (!r)
    return (
      <Panel title="Replay" aside={close}>
        {replay.isError ? <Failure what="the replay" error={replay.error} retry={() => void replay.refetch()} /> : <Loading what="the replay" lines={6} />}
      </Panel>
    );
  const refused = may("runs:operate");
  const { flow, stage, fingerprint, code, run } = r.filter;
  const left = leftOf(r);
  return (
    <Panel
      title={
        <span className={css["state"]}>
          <ToneMark tone={tones[r.state]} size={16} /> Replay {r.state}
        </span>
      }
      aside={close}
    >
      <div className={css["detail"]} aria-live="polite">
        <p className={css["muted"]}>{says[r.state]}</p>
        <StateBar
          tall
          label="Dead letters"
          parts={[
            { tone: "succeeded" as const, count: Math.max(0, r.moved - r.failed), label: "moved" },
            { tone: "failed" as const, count: r.failed, label: "of the canary failed" },
            { tone: "waiting" as const, count: Math.max(0, r.total - r.moved), label: "not moved" },
          ].filter((p) => p.count > 0)}
        />
        <dl className={css["figures"]}>
          <div>
            <dt>Moved</dt>
            <dd>
              {count(r.moved)} of {count(r.total)}
            </dd>
          </div>
          <div>
            <dt>Share</dt>
            <dd>{percent(r.moved, r.total)}</dd>
          </div>
          {r.canary ? (
            <div>
              <dt>Canary failed</dt>
              <dd>
                {count(r.failed)} of {count(Math.min(r.canary, r.total))}
              </dd>
            </div>
          ) : null}
        </dl>
        {r.note && <p className={css["note"]}>{r.note}</p>}
        <KeyValues
          narrow
          items={[
            ...filterParts(r.filter).map(([name, value]) => ({ name: name.charAt(0).toUpperCase() + name.slice(1), value: name === "since" || name === "until" ? <Time at={value} /> : value })),
            { name: "Canary", value: r.canary ? `${count(r.canary)} first` : "none" },
            { name: "Rate", value: r.per_second ? rate(r.per_second) : "as fast as it goes" },
            left !== undefined && { name: "Left", value: `≈ ${duration(left)}` },
            { name: "Asked by", value: r.actor ?? "–" },
            { name: "Reason", value: r.reason || "none given" },
            { name: "Began", value: <Time at={r.created_at} /> },
            { name: r.finished_at ? "Ended" : "Updated", value: <Time at={r.finished_at ?? r.updated_at} /> },
          ]}
        />
        <div className={css["acts"]}>
          {going(r) && (
            <Button kind="danger" disabled={refused !== undefined} title={refused} onClick={() => act(cancelReplay(id))}>
              Cancel replay…
            </Button>
          )}
          <Link className={buttonClass} to="/dead-letters" search={{ ...(flow && { flow }), ...(stage && { stage }), ...(fingerprint && { fingerprint }), ...(code && { code }), ...(run && { run }) }}>
            What is dead of it now
          </Link>
        </div>
      </div>
    </Panel>
  );
}
