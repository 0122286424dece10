import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function StageScreen(): React.ReactNode {
  return (
    <Page title="Stage" name="Stage">
      <Empty title="This screen is being built" />
    </Page>
  );
}
