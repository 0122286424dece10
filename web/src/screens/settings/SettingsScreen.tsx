import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function SettingsScreen() {
  return (
    <Page title="Settings" name="Settings">
      <Empty title="This screen is being built" />
    </Page>
  );
}
