import { Later, part } from "../ui/Later";
import type { ActDialog } from "./ActDialog";
import { closeAct, useOpenAct } from "./host";

const dialog = part<React.ComponentProps<typeof ActDialog>>(async () => ({ default: (await import("./ActDialog")).ActDialog }));

/** Shows the dialog of the act that `act` has opened. The frame has one. */
export function ActHost() {
  const open = useOpenAct();
  return <Later key={open?.id} of={dialog} props={open && { ...open.request, onClose: closeAct }} wanted={open && "now"} />;
}
