import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function WorkersScreen() {
  return (
    <Page title="Workers" name="Workers">
      <Empty title="This screen is being built" />
    </Page>
  );
}
