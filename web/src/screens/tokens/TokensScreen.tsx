import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function TokensScreen() {
  return (
    <Page title="Tokens" name="Tokens">
      <Empty title="This screen is being built" />
    </Page>
  );
}
