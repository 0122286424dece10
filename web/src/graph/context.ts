import { createContext } from "react";
import { Spotlight } from "./spotlight";

/** The spotlight of the canvas that a box is in. */
export const SpotlightContext = createContext(new Spotlight());
