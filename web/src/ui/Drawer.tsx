import { Dialog as Base } from "@base-ui/react/dialog";
import { Button } from "./Button";
import css from "./Drawer.module.css";
import { Icon } from "./Icon";

/**
 * A panel from the right. With `modal={false}` the page behind it stays usable and a click there leaves it open; focus is not taken then,
 * so that a list can be walked through while the drawer follows. Escape and the cross call `onClose`.
 */
export function Drawer({
  open = true,
  onClose,
  title,
  actions,
  modal = true,
  width = 520,
  children,
}: {
  open?: boolean;
  onClose: () => void;
  title: React.ReactNode;
  /** Buttons beside the title. */
  actions?: React.ReactNode;
  modal?: boolean;
  /** In px; never wider than the window. */
  width?: number;
  children?: React.ReactNode;
}) {
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()} modal={modal} disablePointerDismissal={!modal}>
      <Base.Portal>
        {modal && <Base.Backdrop className={css["scrim"]} />}
        <Base.Popup className={css["popup"]} style={{ width }} initialFocus={modal}>
          <div className={css["head"]}>
            <Base.Title className={css["title"]}>{title}</Base.Title>
            {actions}
            <Base.Close render={<Button kind="quiet" small aria-label="Close" />}>
              <Icon name="close" />
            </Base.Close>
          </div>
          <div className={css["body"]}>{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
