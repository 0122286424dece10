import { Menu as Base } from "@base-ui/react/menu";
import { isValidElement } from "react";
import { Button } from "./Button";
import { Icon } from "./Icon";
import css from "./Menu.module.css";

/** An action of a menu. What is disabled says why in `hint` and can still be reached, so that the reason can be read. */
export interface MenuItem {
  name: string;
  onSelect: () => void;
  kind?: "plain" | "danger";
  disabled?: boolean;
  /** A few words below the name: what it does, or why it cannot be done now. */
  hint?: string;
  /** Draws a line above it. */
  separate?: boolean;
  /** One of several of which one holds, and whether it does. */
  checked?: boolean;
}

/** A button that opens a list of actions. `trigger` is the button's text, or a `Button` of the caller's; `label` names the list, `head` stands above it. */
export function Menu({ label, trigger, items, head, align = "end", small = false }: { label: string; trigger: React.ReactNode; head?: React.ReactNode; items: readonly MenuItem[]; align?: "start" | "end"; small?: boolean }) {
  return (
    <Base.Root modal={false}>
      {isValidElement(trigger) ? (
        <Base.Trigger render={trigger as React.ReactElement<Record<string, unknown>> /* isValidElement says nothing of its props */} aria-label={label} />
      ) : (
        <Base.Trigger render={<Button small={small} />}>
          {trigger}
          <Icon name="down" size={12} />
        </Base.Trigger>
      )}
      <Base.Portal>
        <Base.Positioner className={css["positioner"]} sideOffset={4} align={align}>
          <Base.Popup className={css["popup"]} aria-label={label}>
            {head}
            {items.length === 0 && <div className={css["none"]}>Nothing can be done here</div>}
            {items.map((item) => (
              <Item key={item.name} item={item} />
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function Item({ item }: { item: MenuItem }) {
  return (
    <>
      {item.separate && <Base.Separator className={css["line"]} />}
      <Base.Item
        className={css["item"]}
        data-kind={item.kind}
        data-checked={item.checked}
        disabled={item.disabled ?? false}
        label={item.name}
        onClick={item.onSelect}
        {...(item.checked === undefined ? {} : { role: "menuitemradio", "aria-checked": item.checked })}
      >
        <span>
          {item.checked !== undefined && (
            <span className={css["check"]} aria-hidden>
              {item.checked && <Icon name="check" size={12} />}
            </span>
          )}
          {item.name}
        </span>
        {item.hint && <span className={css["hint"]}>{item.hint}</span>}
      </Base.Item>
    </>
  );
}
