import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { format, parse, type Span } from "./zoom";

const route = getRouteApi("/runs/$run");

/**
 * What of the time axis is in sight; undefined is all of it, also while it grows. It is kept in the address, which follows a moment later,
 * because browsers allow no more than a few changes of it a second.
 */
export function useSpan(start: number): [Span | undefined, (span: Span | undefined) => void] {
  const { zoom } = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run" });
  const [span, setSpan] = useState(() => parse(zoom, start));
  const text = span && format(span, start);
  useEffect(() => {
    if (text === zoom) return;
    const timer = setTimeout(() => void navigate({ to: ".", search: (s) => ({ ...s, zoom: text }), replace: true }), 400);
    return () => clearTimeout(timer);
  }, [text, zoom, navigate]);
  return [span, setSpan];
}
