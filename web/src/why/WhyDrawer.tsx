import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { usePoll } from "../api/live/useLive";
import { Copy } from "../ui/Copy";
import { Drawer } from "../ui/Drawer";
import { shortId } from "../ui/format";
import { Failure, Loading } from "../ui/Notice";
import { Explained } from "./Explained";
import { explainQuery } from "./query";
import { parseWhy, type WhyTarget } from "./target";
import css from "./Why.module.css";
import { WhyLink } from "./WhyLink";

/** The drawer that explains what `?why=RUN[/STAGE[/SHARD]]` names, over every screen. The screen behind it stays usable. */
export default function WhyDrawer() {
  const { why } = useSearch({ strict: false });
  const navigate = useNavigate();
  const target = parseWhy(why);
  if (!target) return null;
  return (
    <Drawer modal={false} width={560} onClose={() => void navigate({ to: ".", search: (s: Record<string, unknown>) => ({ ...s, why: undefined }) })} title={<Title target={target} />} actions={<Copy text={() => window.location.href} what="link to this explanation" />}>
      <Body key={why} target={target} />
    </Drawer>
  );
}

/** What is explained, as a way up: each part explains what it names, and links to its screen stand below. */
function Title({ target: { run, stage, shard } }: { target: WhyTarget }) {
  return (
    <span className={css["title"]}>
      Why?{" "}
      <span className={css["path"]}>
        {stage === undefined ? `run ${shortId(run)}` : <WhyLink run={run}>run {shortId(run)}</WhyLink>}
        {stage !== undefined && <> / {shard === undefined ? stage : <WhyLink run={run} stage={stage}>{stage}</WhyLink>}</>}
        {shard !== undefined && <> / {shard === -1 ? "plan" : shard}</>}
      </span>
    </span>
  );
}

function Body({ target }: { target: WhyTarget }) {
  const poll = usePoll(2_000, 2_000);
  const explained = useQuery({ ...explainQuery(target), refetchInterval: poll });
  if (explained.data) {
    return (
      <>
        {explained.isError && (
          <p className={css["stale"]} role="status">
            It could not be asked again: {explained.error.message} What follows may be old.
          </p>
        )}
        <Explained explained={explained.data} />
        <Places target={target} flow={explained.data.flow} />
      </>
    );
  }
  if (explained.isError) return <Failure what="why" error={explained.error} retry={() => void explained.refetch()} />;
  return <Loading what="why" lines={5} />;
}

function Places({ target: { run, stage, shard }, flow }: { target: WhyTarget; flow: string }) {
  return (
    <nav className={css["places"]} aria-label="Screens of what is explained">
      {shard !== undefined && stage !== undefined && (
        <Link to="/runs/$run/stages/$stage/shards/$shard" params={{ run, stage, shard: String(shard) }}>
          Attempts and logs
        </Link>
      )}
      {stage !== undefined && (
        <Link to="/runs/$run/stages/$stage" params={{ run, stage }}>
          Stage {stage}
        </Link>
      )}
      <Link to="/runs/$run" params={{ run }}>
        Run {shortId(run)}
      </Link>
      <Link to="/flows/$flow" params={{ flow }}>
        Flow {flow}
      </Link>
    </nav>
  );
}
