import { lazy, Suspense } from "react";
import { openShell, useShellDialog } from "./dialogs";

const Palette = lazy(() => import("./palette/Palette"));
const ShortcutSheet = lazy(() => import("./ShortcutSheet"));
const ZoneDialog = lazy(() => import("./ZoneDialog"));

const close = () => openShell(undefined);

/** The frame's dialogs; each is loaded when it is first opened. */
export function ShellDialogs() {
  const open = useShellDialog();
  return (
    <Suspense fallback={null}>
      {open === "palette" && <Palette onClose={close} />}
      {open === "shortcuts" && <ShortcutSheet onClose={close} />}
      {open === "zone" && <ZoneDialog onClose={close} />}
    </Suspense>
  );
}
