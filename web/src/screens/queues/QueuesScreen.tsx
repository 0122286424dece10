import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function QueuesScreen() {
  return (
    <Page title="Queues" name="Queues">
      <Empty title="This screen is being built" />
    </Page>
  );
}
