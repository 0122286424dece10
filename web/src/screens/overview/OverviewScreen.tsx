import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function OverviewScreen() {
  return (
    <Page title="Overview" name="Overview">
      <Empty title="This screen is being built" />
    </Page>
  );
}
