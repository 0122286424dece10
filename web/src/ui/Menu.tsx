import { cloneElement, isValidElement, useState } from "react";
import { Button } from "./Button";
import { Icon } from "./Icon";
import { Later, part } from "./Later";
import type MenuBox from "./MenuBox";

const box = part<React.ComponentProps<typeof MenuBox>>(() => import("./MenuBox"));

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

/** What somebody did to the button before the menu was loaded. */
export type Wanted = "focus" | "open" | undefined;

export interface MenuProps {
  /** Names the list. */
  label: string;
  /** The button's text, or a `Button` of the caller's. */
  trigger: React.ReactNode;
  /** Stands above the list. */
  head?: React.ReactNode;
  items: readonly MenuItem[];
  align?: "start" | "end";
  small?: boolean;
}

/** A button that opens a list of actions. The list is loaded when the page has nothing better to do, or at once when the button is used. */
export function Menu(props: MenuProps) {
  const { label, trigger, small = false } = props;
  const [wanted, want] = useState<Wanted>();
  const closed = { "aria-haspopup": "menu", "aria-expanded": false, onClick: () => want("open"), onFocus: () => want((w) => w ?? "focus") } as const;
  const plain = isValidElement<Record<string, unknown>>(trigger) ? (
    cloneElement(trigger, { ...closed, "aria-label": label })
  ) : (
    <Button small={small} {...closed}>
      {trigger}
      <Icon name="down" size={12} />
    </Button>
  );
  return <Later of={box} props={{ ...props, wanted }} wanted={wanted === "open" ? "now" : wanted && "soon"} fallback={plain} />;
}
