import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function FlowsScreen() {
  return (
    <Page title="Flows" name="Flows">
      <Empty title="This screen is being built" />
    </Page>
  );
}
