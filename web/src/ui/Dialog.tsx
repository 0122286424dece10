import { Dialog as Base } from "@base-ui/react/dialog";
import { useRef } from "react";
import { Button } from "./Button";
import css from "./Dialog.module.css";
import { Icon } from "./Icon";

/**
 * A dialog over the page. Focus is kept inside and goes back to where it was. Escape and the cross call `onClose`; a click beside it does
 * only without `keep`, which is for forms whose input would be lost. `initialFocus` names what gets the focus first; unless said it is the
 * first field, or else the first button of the foot.
 */
export function Dialog({
  open = true,
  onClose,
  title,
  description,
  footer,
  size = "medium",
  keep = false,
  initialFocus,
  children,
}: {
  open?: boolean;
  onClose: () => void;
  title: React.ReactNode;
  description?: React.ReactNode;
  /** Buttons, at the right end of the dialog's foot. */
  footer?: React.ReactNode;
  size?: "small" | "medium" | "large";
  keep?: boolean;
  initialFocus?: React.RefObject<HTMLElement | null>;
  children?: React.ReactNode;
}) {
  const popup = useRef<HTMLDivElement>(null);
  const first = () => popup.current?.querySelector<HTMLElement>(`.${css["body"]} :is(input:not([aria-hidden]), textarea, [role=radio][tabindex="0"])`) ?? popup.current?.querySelector<HTMLElement>(`.${css["foot"]} button`) ?? true;
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()} disablePointerDismissal={keep}>
      <Base.Portal>
        <Base.Backdrop className={css["scrim"]} />
        <Base.Viewport className={css["viewport"]}>
          <Base.Popup ref={popup} className={css["popup"]} data-size={size} initialFocus={initialFocus ?? first}>
            <div className={css["head"]}>
              <Base.Title className={css["title"]}>{title}</Base.Title>
              <Base.Close render={<Button kind="quiet" small aria-label="Close" />}>
                <Icon name="close" />
              </Base.Close>
            </div>
            <div className={css["body"]}>
              {description && <Base.Description className={css["description"]}>{description}</Base.Description>}
              {children}
            </div>
            {footer && <div className={css["foot"]}>{footer}</div>}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}
