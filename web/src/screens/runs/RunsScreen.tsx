import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function RunsScreen() {
  return (
    <Page title="Runs" name="Runs">
      <Empty title="This screen is being built" />
    </Page>
  );
}
