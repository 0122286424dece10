import { createContext } from "react";
import type { Json } from "../../params/json";

/** What the fields of a form share. */
export interface FormContextValue {
  /** The whole schema, for references. */
  root: Json;
  /** What is wrong, by JSON pointer into the params. */
  errors: ReadonlyMap<string, string>;
  /** What the field at a place was before, in the run that is started again; undefined if there is none or it is the same. */
  changed: ReadonlySet<string>;
  /** A field was left: what is wrong with it may be shown from now on. */
  touch: (pointer: string) => void;
}

export const FormContext = createContext<FormContextValue>({ root: true, errors: new Map(), changed: new Set(), touch: () => {} });
