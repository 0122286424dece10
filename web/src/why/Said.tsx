import { useState } from "react";
import { Button } from "../ui/Button";
import { sentence } from "../ui/format";
import css from "./Why.module.css";

/** Longer texts show their beginning until somebody asks for the whole: they quote errors of several groups. */
const longest = 220;

/** The beginning of a text, to the end of a word. */
export const beginning = (text: string): string => (text.length <= longest ? text : `${text.slice(0, Math.max(120, text.lastIndexOf(" ", longest)))} …`);

/** A diagnosis; `large` for the one that the drawer is about. */
export function Said({ text, large = false }: { text: string; large?: boolean }) {
  const [whole, setWhole] = useState(false);
  const all = sentence(text);
  const long = all.length > longest;
  return (
    <p className={css[large ? "sentence" : "said"]} data-long={(long && whole) || undefined}>
      {whole ? all : beginning(all)}
      {long && (
        <Button kind="quiet" small aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? "less" : "all of it"}
        </Button>
      )}
    </p>
  );
}
