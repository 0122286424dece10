import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function RunScreen() {
  return (
    <Page title="Run" name="Run">
      <Empty title="This screen is being built" />
    </Page>
  );
}
