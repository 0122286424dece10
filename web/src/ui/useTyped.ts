import { useState } from "react";

/** What an input shows, and what it does when somebody types into it or leaves it. */
export interface Typed {
  text: string;
  type: (text: string) => void;
  leave: () => void;
}

interface State {
  /** The value that the caller gave last. */
  seen: string;
  text: string;
  /** What was typed and has not come back as the value yet. */
  sent: readonly string[];
}

/**
 * Lets somebody type into an input whose value comes back late, as from the page's address: what is typed is shown at once, and the
 * values that come back for earlier keys do not undo later ones. A value that was not typed here is taken over.
 */
export function useTyped(value: string, onChange: (value: string) => void): Typed {
  const [state, set] = useState<State>({ seen: value, text: value, sent: [] });
  let { text } = state;
  if (value !== state.seen) {
    const next = arrived(state, value);
    text = next.text;
    set(next);
  }
  return {
    text,
    type: (typed) => {
      set((s) => ({ ...s, text: typed, sent: [...s.sent.slice(-50), typed] }));
      onChange(typed);
    },
    leave: () => set((s) => ({ ...s, sent: [] })),
  };
}

/** The state when a value arrives: an answer to what was typed, or another's. */
export function arrived(state: State, value: string): State {
  const k = state.sent.indexOf(value);
  return k >= 0 ? { seen: value, text: state.text, sent: state.sent.slice(k + 1) } : { seen: value, text: value, sent: [] };
}
