import { useSearch } from "@tanstack/react-router";
import { Later, part } from "../ui/Later";

const drawer = part(() => import("./WhyDrawer"));
const none = {};

/** The place of the drawer in the frame: `?why=` opens it. */
export function WhyHost() {
  const { why } = useSearch({ strict: false });
  return <Later of={drawer} props={why === undefined ? undefined : none} wanted={why === undefined ? undefined : "now"} />;
}
