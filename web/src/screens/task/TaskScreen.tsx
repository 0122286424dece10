import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function TaskScreen() {
  return (
    <Page title="Task" name="Task">
      <Empty title="This screen is being built" />
    </Page>
  );
}
