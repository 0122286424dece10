import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { usePoll } from "../../api/live/useLive";
import { Button } from "../../ui/Button";
import { DataTable, type Column } from "../../ui/DataTable";
import { Icon } from "../../ui/Icon";
import { Empty, Failure } from "../../ui/Notice";
import { Page, Panel } from "../../ui/Page";
import { usePaletteActions } from "../../ui/paletteActions";
import { useShortcut } from "../../ui/shortcuts";
import { Time } from "../../ui/Time";
import { Health } from "./Health";
import { NewWebhookDialog } from "./NewWebhookDialog";
import { WebhookDrawer } from "./WebhookDrawer";

type Webhook = Schemas["Webhook"];

const route = getRouteApi("/webhooks");

/** What AX tells other systems: the webhooks, whether their receivers take what is sent, and the deliveries of each. */
export default function WebhooksScreen() {
  const { webhook: open } = route.useSearch();
  const navigate = useNavigate({ from: "/webhooks" });
  const show = (webhook: string | undefined) => void navigate({ search: (s) => ({ ...s, webhook }), replace: true });
  const hooks = useQuery({
    queryKey: keys.admin("webhooks"),
    queryFn: ({ signal }) => answer(api.GET("/api/v1/webhooks", { signal })),
    refetchInterval: usePoll(10_000, 10_000),
  });
  const [making, setMaking] = useState(false);
  const make = () => setMaking(true);
  useShortcut("n", "New webhook", make);
  usePaletteActions([{ name: "New webhook", hint: "n", action: make }]);
  const rows = useMemo(() => hooks.data?.items ?? [], [hooks.data]);
  const shown = rows.find((h) => h.id === open);
  return (
    <Page
      title="Webhooks"
      name="Webhooks"
      fill
      actions={
        <Button kind="primary" onClick={make}>
          <Icon name="plus" /> New webhook
        </Button>
      }
    >
      {hooks.isError && !hooks.data ? (
        <Failure what="the webhooks" error={hooks.error} retry={() => void hooks.refetch()} />
      ) : (
        <Panel flush fill>
          <DataTable
            label="Webhooks"
            fill
            rows={rows}
            columns={columns}
            rowKey={idOf}
            current={open}
            loading={hooks.isPending}
            onOpen={(h) => show(h.id)}
            onActive={(h) => open !== undefined && show(h.id)}
            empty={
              <Empty title="There are no webhooks" action={<Button onClick={make}>New webhook</Button>}>
                A webhook tells a URL of yours when runs succeed, fail, are cancelled or late: a chat, an on-call system, the next program in line.
              </Empty>
            }
          />
        </Panel>
      )}
      {shown && <WebhookDrawer key={shown.id} hook={shown} onClose={() => show(undefined)} />}
      {making && <NewWebhookDialog onClose={() => setMaking(false)} onMade={(h) => show(h.id)} />}
    </Page>
  );
}

const idOf = (h: Webhook): string => h.id;

const columns: Column<Webhook>[] = [
  { id: "health", head: "State", width: 170, cell: (h) => <Health hook={h} /> },
  { id: "name", head: "Name", width: "1fr", min: 120, cell: (h) => <strong title={h.name}>{h.name}</strong> },
  { id: "url", head: "URL", width: "2fr", min: 180, cell: (h) => <span title={h.url}>{h.url}</span> },
  { id: "events", head: "Events", width: "2fr", min: 160, cell: (h) => <span title={h.events.join(", ")}>{h.events.join(", ")}</span> },
  { id: "flows", head: "Flows", width: "1fr", min: 100, cell: (h) => (h.flows?.length ? <span title={h.flows.join(", ")}>{h.flows.join(", ")}</span> : "all") },
  { id: "made", head: "Made", width: 110, cell: (h) => <Time at={h.created_at} /> },
  { id: "by", head: "By", width: "1fr", min: 100, cell: (h) => <span title={h.created_by}>{h.created_by}</span> },
];
