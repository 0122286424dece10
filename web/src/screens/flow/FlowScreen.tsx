import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function FlowScreen() {
  return (
    <Page title="Flow" name="Flow">
      <Empty title="This screen is being built" />
    </Page>
  );
}
