import { Link } from "@tanstack/react-router";
import { targetLink } from "./audit";

const brief = (target: string): string => target.replace(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}([0-9a-f]{4})/g, "$1…$2");

/** What an act was done to, as a link to it where it has a place on the page. */
export function Target({ target, full = false }: { target: string; full?: boolean }) {
  const link = targetLink(target);
  const text = full ? target : brief(target);
  return link ? (
    <Link {...link} title={target}>
      {text}
    </Link>
  ) : (
    <span title={target}>{text}</span>
  );
}
