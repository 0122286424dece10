import { Tooltip as Base } from "@base-ui/react/tooltip";
import css from "./Tooltip.module.css";

/** A few words beside one focusable element, on hover and on focus. What matters must not stand in a tooltip only. */
export function Tooltip({ text, side = "top", children }: { text: React.ReactNode; side?: "top" | "bottom" | "left" | "right"; children: React.ReactElement<Record<string, unknown>> }) {
  if (!text) return children;
  return (
    <Base.Root>
      <Base.Trigger render={children} delay={350} />
      <Base.Portal>
        <Base.Positioner className={css["positioner"]} sideOffset={6} side={side}>
          <Base.Popup className={css["popup"]} role="tooltip">
            {text}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
