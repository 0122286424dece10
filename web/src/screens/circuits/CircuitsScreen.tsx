import { Empty } from "../../ui/Notice";
import { Page } from "../../ui/Page";

export default function CircuitsScreen() {
  return (
    <Page title="Circuits" name="Circuits">
      <Empty title="This screen is being built" />
    </Page>
  );
}
