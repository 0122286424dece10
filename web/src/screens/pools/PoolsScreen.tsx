import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function PoolsScreen() {
  return (
    <Page title="Pools" name="Pools">
      <Empty title="This screen is being built" />
    </Page>
  );
}
