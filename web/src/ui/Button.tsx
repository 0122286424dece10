import css from "./Button.module.css";

/** A button. `kind`: `plain` unless said; `primary` once a screen; `danger` for what cannot be undone; `quiet` inside tables and bars. */
export function Button({ kind = "plain", small = false, type = "button", className, ...rest }: React.ComponentProps<"button"> & { kind?: "plain" | "primary" | "danger" | "quiet"; small?: boolean }) {
  return <button {...rest} type={type} data-kind={kind} data-small={small || undefined} className={className ? `${css["button"]} ${className}` : css["button"]} />;
}

/** The look of a button for links: `<Link className={buttonClass} data-kind="primary">`. */
export const buttonClass = css["button"] ?? "";
