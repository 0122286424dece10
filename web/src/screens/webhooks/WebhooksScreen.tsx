import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function WebhooksScreen() {
  return (
    <Page title="Webhooks" name="Webhooks">
      <Empty title="This screen is being built" />
    </Page>
  );
}
