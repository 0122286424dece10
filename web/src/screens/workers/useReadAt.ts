import { useQuery } from "@tanstack/react-query";
import { serverQuery } from "../../api/queries";

/**
 * Turns the time at which this browser got an answer (ms) into the database's time, whose clock heartbeats are told by: the two clocks may be
 * minutes apart.
 */
export function useReadAt(gotAt: number): number {
  const server = useQuery(serverQuery);
  return server.data ? gotAt + (new Date(server.data.now).getTime() - server.dataUpdatedAt) : gotAt;
}
