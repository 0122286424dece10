import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { flowQuery } from "../../api/queries";
import { isObject, type Json } from "../../params/json";
import { schemaQuery } from "../../params/query";
import { rootField } from "../../params/schema";
import { initial } from "../../params/values";
import { shortId } from "../../ui/format";
import { Failure, Loading } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { runParamsQuery } from "./queries";
import { StartForm } from "./StartForm";
import css from "./StartScreen.module.css";

const route = getRouteApi("/flows/$flow/start");

/** Starts a run of a flow, from nothing or from the params of an earlier run (`again`). */
export default function StartScreen() {
  const { flow } = route.useParams();
  const { again } = route.useSearch();
  const graph = useQuery(flowQuery(flow));
  const schema = useQuery(schemaQuery(flow));
  const before = useQuery({ ...runParamsQuery(again ?? ""), enabled: again !== undefined, retry: false });
  const title = (
    <>
      Start <Link to="/flows/$flow" params={{ flow }}>{flow}</Link>
    </>
  );
  const failed = graph.error ?? schema.error ?? (again === undefined ? null : before.error);
  const ready = graph.data !== undefined && schema.data !== undefined && (again === undefined || before.data !== undefined);
  return (
    <Page
      title={title}
      name={`Start ${flow}`}
      aside={
        again !== undefined && (
          <span>
            again, with what run{" "}
            <Link to="/runs/$run" params={{ run: again }} className={css["mono"]}>
              {shortId(again)}
            </Link>{" "}
            was started with
          </span>
        )
      }
    >
      {failed && !ready ? (
        <Panel>
          <Failure what={before.error ? `the params of run ${shortId(again ?? "")}` : `flow ${flow}`} error={failed} retry={() => void (graph.error ? graph.refetch() : schema.error ? schema.refetch() : before.refetch())} />
        </Panel>
      ) : ready ? (
        <StartForm key={`${flow} ${again}`} flow={graph.data} root={schema.data} base={again === undefined ? undefined : before.data} begin={again === undefined ? begin(schema.data) : (before.data ?? {})} />
      ) : (
        <Panel>
          <Loading what={`flow ${flow}`} lines={8} />
        </Panel>
      )}
    </Page>
  );
}

/** What the form begins with: an object, even where the schema allows anything. */
function begin(root: Json): Json {
  const value = initial(root, rootField(root));
  return isObject(value) ? value : (value ?? {});
}
