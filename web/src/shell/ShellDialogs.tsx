import { Later, part } from "../ui/Later";
import { openShell, useShellDialog } from "./dialogs";

const palette = part(() => import("./palette/Palette"));
const shortcuts = part(() => import("./ShortcutSheet"));
const zone = part(() => import("./ZoneDialog"));

const props = { onClose: () => openShell(undefined) };

/** The frame's dialogs. */
export function ShellDialogs() {
  const open = useShellDialog();
  return (
    <>
      <Later of={palette} props={open === "palette" ? props : undefined} wanted={open === "palette" ? "now" : undefined} />
      <Later of={shortcuts} props={open === "shortcuts" ? props : undefined} wanted={open === "shortcuts" ? "now" : undefined} />
      <Later of={zone} props={open === "zone" ? props : undefined} wanted={open === "zone" ? "now" : undefined} />
    </>
  );
}
