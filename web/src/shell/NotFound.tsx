import { Link } from "@tanstack/react-router";
import { Empty } from "../ui/Notice";
import { Page } from "../ui/Page";

export default function NotFound(): React.ReactNode {
  return (
    <Page title="Not found" name="Not found">
      <Empty title="There is no such page" action={<Link to="/">To the overview</Link>}>
        The address may be wrong, or from another version of AX.
      </Empty>
    </Page>
  );
}
