import { createContext } from "react";
import { Connection } from "./connection";

/** The page's one stream. */
export const LiveContext = createContext(new Connection());
