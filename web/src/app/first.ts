import { askFirst } from "./ahead";
import { newCache } from "./cache";

/** The page's cache of answers. It stands in a module of its own that is read before all others, so that the first requests are on their way while those are read. */
export const cache = newCache();

askFirst(cache);
