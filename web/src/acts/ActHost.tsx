import { lazy, Suspense } from "react";
import { closeAct, useOpenAct } from "./host";

const ActDialog = lazy(() => import("./ActDialog").then((m) => ({ default: m.ActDialog })));

/** Shows the dialog of the act that `act` has opened. The frame has one. */
export function ActHost() {
  const open = useOpenAct();
  if (!open) return null;
  return (
    <Suspense fallback={null}>
      <ActDialog key={open.id} {...open.request} onClose={closeAct} />
    </Suspense>
  );
}
