import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { ActHost } from "../acts/ActHost";
import { Refusal } from "../api/client";
import { meQuery } from "../api/queries";
import { Later, part } from "../ui/Later";
import { WhyHost } from "../why/WhyHost";
import { Banners } from "./Banners";
import { Bar } from "./Bar";
import { Nav } from "./Nav";
import css from "./Shell.module.css";
import { ShellDialogs } from "./ShellDialogs";
import { useGlobalShortcuts } from "./useGlobalShortcuts";

const none = {};
const toaster = part(() => import("../ui/Toaster"));
const Login = lazy(() => import("./login/Login"));

/** Who is not known is asked for a credential, and not asked again and again who they are: the form would be drawn anew each time. */
const known = (query: { state: { status: string } }): boolean => query.state.status !== "error";

/** The frame around every screen: navigation, the bar, and what opens over them; for who is not known, the log-in. */
export function Shell() {
  const me = useQuery({ ...meQuery, refetchOnWindowFocus: known, refetchOnReconnect: known, retryOnMount: false });
  const refused = me.error instanceof Refusal && me.error.problem.code === "unauthenticated" ? me.error : undefined;
  const [nav, setNav] = useState(false);
  useGlobalShortcuts(!refused);
  useEffect(() => {
    if (!nav) return;
    const close = (event: KeyboardEvent) => event.key === "Escape" && setNav(false);
    document.addEventListener("keydown", close);
    return () => document.removeEventListener("keydown", close);
  }, [nav]);
  if (refused) {
    return (
      <Suspense fallback={null}>
        <Login refused={refused} />
      </Suspense>
    );
  }
  return (
    <div className={css["shell"]} data-nav={nav || undefined}>
      <a className={css["skip"]} href="#main">
        Skip to the content
      </a>
      <Nav onGo={() => setNav(false)} />
      {nav && <button type="button" className={css["scrim"]} aria-label="Close the navigation" onClick={() => setNav(false)} />}
      <div className={css["main"]}>
        <Bar navOpen={nav} onNav={() => setNav(!nav)} />
        <Banners />
        <Outlet />
      </div>
      <ActHost />
      <WhyHost />
      <ShellDialogs />
      <Later of={toaster} props={none} wanted={undefined} />
    </div>
  );
}
