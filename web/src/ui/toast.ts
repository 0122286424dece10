import { Toast } from "@base-ui/react/toast";

/** What a toast says. */
export interface ToastText {
  title: string;
  text?: React.ReactNode;
  /** `bad` stays until it is closed and is announced at once. */
  kind?: "ok" | "bad";
}

/** All toasts of the page; the Toaster shows them. */
export const toasts = Toast.createToastManager();

/** Shows a toast. */
export function toast({ title, text, kind = "ok" }: ToastText): void {
  toasts.add({ title, type: kind, ...(text === undefined ? {} : { description: text }), timeout: kind === "bad" ? 0 : 6000, priority: kind === "bad" ? "high" : "low" });
}

/** Returns `toast`, for components. */
export const useToast = (): typeof toast => toast;
