import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function ReplaysScreen() {
  return (
    <Page title="Replays" name="Replays">
      <Empty title="This screen is being built" />
    </Page>
  );
}
