import { Menu as Base } from "@base-ui/react/menu";
import { isValidElement } from "react";
import { Button } from "./Button";
import { Icon } from "./Icon";
import type { MenuItem, MenuProps, Wanted } from "./Menu";
import css from "./Menu.module.css";

/** What opens: Menu loads it. `wanted` is what was done to the button before it was there. */
export default function MenuBox({ label, trigger, items, head, align = "end", small = false, wanted }: MenuProps & { wanted: Wanted }) {
  const focus = wanted === undefined ? {} : { autoFocus: true };
  return (
    <Base.Root modal={false} defaultOpen={wanted === "open"}>
      {isValidElement(trigger) ? (
        <Base.Trigger render={trigger as React.ReactElement<Record<string, unknown>> /* isValidElement says nothing of its props */} aria-label={label} {...focus} />
      ) : (
        <Base.Trigger render={<Button small={small} />} {...focus}>
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
