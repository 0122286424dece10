import type { QueryClient } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { keys } from "../../api/keys";
import { token } from "../../api/token";
import { toast } from "../../ui/toast";

/** Ends the session, here and at the identity provider where it can be, or forgets the tab's token. */
export async function logOut(via: Schemas["Me"]["via"], cache: QueryClient): Promise<void> {
  if (via === "token") {
    token.clear();
    cache.removeQueries({ predicate: (q) => q.queryKey[0] !== keys.me[0] });
    await cache.resetQueries({ queryKey: keys.me });
    return;
  }
  try {
    const response = await fetch("/auth/logout", { method: "POST", headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    const { location }: { location: string } = await response.json();
    window.location.assign(location);
  } catch (cause) {
    toast({ kind: "bad", title: "Could not log out", text: cause instanceof Error ? cause.message : String(cause) });
  }
}
