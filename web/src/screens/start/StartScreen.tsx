import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function StartScreen() {
  return (
    <Page title="Start run" name="Start run">
      <Empty title="This screen is being built" />
    </Page>
  );
}
