import { useMemo, useState } from "react";
import { maskOf, spansOf, type Mask } from "./heat/selection";
import { formatSpans, parseSpans } from "./heat/spans";
import { route } from "./route";

/** Longer than this, in characters, a set does not go into the address: servers refuse heads of 32 KiB, and people long links. */
const longest = 3000;

/** The selected shards. They are in the address as a set, such as `0-99,117`; sets with too many ranges are kept by the screen alone. */
export interface Selection {
  mask: Mask | undefined;
  /** As the API reads it. */
  text: string | undefined;
  /** It is too long for the address. */
  unshared: boolean;
  select: (mask: Mask | undefined) => void;
}

/** The selection of the stage that is shown. */
export function useSelection(total: number): Selection {
  const { shards } = route.useSearch();
  const navigate = route.useNavigate();
  const [large, setLarge] = useState<string>();
  const text = shards ?? large;
  const mask = useMemo(() => {
    const spans = text === undefined ? undefined : parseSpans(text);
    const found = spans && total > 0 ? maskOf(spans, total) : undefined;
    return found?.includes(1) ? found : undefined;
  }, [text, total]);
  const select = (next: Mask | undefined) => {
    const written = next ? formatSpans(spansOf(next)) : "";
    const fits = written.length <= longest;
    setLarge(fits ? undefined : written);
    void navigate({ search: (s) => ({ ...s, shards: fits && written !== "" ? written : undefined }), replace: true, resetScroll: false });
  };
  return { mask, text: mask && text, unshared: shards === undefined && large !== undefined, select };
}
