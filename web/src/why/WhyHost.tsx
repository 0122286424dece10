import { useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";

const WhyDrawer = lazy(() => import("./WhyDrawer"));

/** The place of the drawer in the frame: it is loaded when `?why=` first asks for it. */
export function WhyHost() {
  const { why } = useSearch({ strict: false });
  if (why === undefined) return null;
  return (
    <Suspense>
      <WhyDrawer />
    </Suspense>
  );
}
