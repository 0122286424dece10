import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function DeadScreen() {
  return (
    <Page title="Dead letters" name="Dead letters">
      <Empty title="This screen is being built" />
    </Page>
  );
}
