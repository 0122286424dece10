import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function CompareScreen() {
  return (
    <Page title="Compare" name="Compare">
      <Empty title="This screen is being built" />
    </Page>
  );
}
