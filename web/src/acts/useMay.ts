import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../api/client";
import { meQuery } from "../api/queries";

/** Says why the reader may not do what needs a permission; undefined if they may. Until it is known who they are, everything may be tried. */
export function useMay(): (needs: Schemas["Permission"]) => string | undefined {
  const me = useQuery(meQuery).data;
  return (needs) => (me === undefined || me.permissions.includes(needs) ? undefined : `Your credential (${me.role}) lacks the permission ${needs}.`);
}
