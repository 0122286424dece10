import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { keys } from "../../api/keys";

/** The circuits that are not closed, or have been opened before. */
export const circuitsQuery = queryOptions({
  queryKey: keys.fleet("circuits"),
  queryFn: ({ signal }) => answer(api.GET("/api/v1/circuits", { signal })),
});
