import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function AuditScreen() {
  return (
    <Page title="Audit" name="Audit">
      <Empty title="This screen is being built" />
    </Page>
  );
}
