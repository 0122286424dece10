import { getRouteApi } from "@tanstack/react-router";

/** The route of this screen. */
export const route = getRouteApi("/runs/$run/stages/$stage");
