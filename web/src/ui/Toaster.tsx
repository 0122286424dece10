import { Toast } from "@base-ui/react/toast";
import { Button } from "./Button";
import { Icon } from "./Icon";
import { toasts } from "./toast";
import css from "./Toaster.module.css";

/** Shows the toasts, at the lower right; F6 goes to them. The frame has one. */
export default function Toaster() {
  return (
    <Toast.Provider toastManager={toasts} limit={4}>
      <Toast.Portal>
        <Toast.Viewport className={css["viewport"]}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function List() {
  const { toasts: list } = Toast.useToastManager();
  return list.map((t) => (
    <Toast.Root key={t.id} toast={t} className={css["toast"]} swipeDirection="right">
      <span className={css["mark"]} data-kind={t.type}>
        <Icon name={t.type === "bad" ? "warn" : "check"} size={16} />
      </span>
      <Toast.Content className={css["content"]}>
        <Toast.Title className={css["title"]} />
        <Toast.Description className={css["text"]} />
      </Toast.Content>
      <Toast.Close render={<Button kind="quiet" small aria-label="Close" />}>
        <Icon name="close" size={12} />
      </Toast.Close>
    </Toast.Root>
  ));
}
