import { Link } from "@tanstack/react-router";
import { buttonClass } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { Panel } from "../../ui/Page";
import css from "./Welcome.module.css";

/** What a database without any run shows: how to start the first one. */
export function Welcome({ flows }: { flows: readonly string[] }) {
  const flow = flows[0];
  const command = `ax run start ${flow ?? "FLOW"} --watch`;
  return (
    <Panel title="Start a first run">
      <div className={css["welcome"]}>
        {flow ? (
          <>
            <p>
              {flows.length === 1 ? <>The flow <b>{flow}</b> is registered</> : <>{flows.length} flows are registered</>}, and none has run yet. Start one here, with a form made of its params:
            </p>
            <p className={css["actions"]}>
              <Link to="/flows/$flow/start" params={{ flow }} className={buttonClass} data-kind="primary">
                Start {flow}
              </Link>
              {flows.length > 1 && (
                <Link to="/flows" className={buttonClass}>
                  See all flows
                </Link>
              )}
            </p>
            <p>Or from a terminal; each param is a flag:</p>
          </>
        ) : (
          <>
            <p>
              No flow is registered yet. A flow is registered when a program that holds it starts: run yours with <code>dev</code>, <code>worker</code> or <code>server</code>, and it stands on the <Link to="/flows">Flows page</Link>.
            </p>
            <p>Then start a run there, or from a terminal; each param is a flag:</p>
          </>
        )}
        <p className={css["command"]}>
          <code>{command}</code>
          <Copy text={command} what="the command" />
        </p>
        <p className={css["note"]}>This page fills by itself as soon as something runs.</p>
      </div>
    </Panel>
  );
}
