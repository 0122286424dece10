import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin, Rolldown } from "vite";

/**
 * Has the browser load a screen's files together with the page's own, instead of after those have begun to run: index.html gets a list
 * of what each address needs, and public/first.js asks for it. Which screen is at which address is read in `routes`, the file that
 * decides it.
 */
export function preloadScreens(routes: string): Plugin {
  return {
    name: "preload-screens",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (html, { bundle }) => (bundle ? [{ tag: "meta", attrs: { name: "ax-screens", content: JSON.stringify(listed(bundle, routes)) }, injectTo: "head-prepend" as const }] : html),
    },
  };
}

/** All files that screens need, and for each address, as a regular expression, which of them. */
interface Screens {
  files: string[];
  screens: [address: string, files: number[]][];
}

function listed(bundle: Rolldown.OutputBundle, routes: string): Screens {
  const chunks = Object.values(bundle).filter((c) => c.type === "chunk");
  const entry = chunks.find((c) => c.isEntry);
  if (!entry) throw new Error("preload-screens: the bundle has no entry");
  const here = closure(entry.fileName, bundle);
  const files: string[] = [];
  const number = (file: string): number => (files.includes(file) ? files.indexOf(file) : files.push(file) - 1);
  const screens = Array.from(declared(routes), ([address, file]): Screens["screens"][number] => {
    const chunk = chunks.find((c) => c.moduleIds.includes(file));
    if (!chunk) throw new Error(`preload-screens: ${routes} names ${file}, which is in no chunk`);
    return [`^${address.replaceAll(/\$\w+/g, "[^/]+")}/?$`, [...closure(chunk.fileName, bundle)].filter((f) => !here.has(f)).map(number)];
  });
  return { files, screens };
}

/** A chunk's file with the files that it cannot do without. */
function closure(file: string, bundle: Rolldown.OutputBundle, into = new Set<string>()): Set<string> {
  const chunk = bundle[file];
  if (chunk?.type !== "chunk" || into.has(file)) return into;
  into.add(file);
  for (const css of chunk.viteMetadata?.importedCss ?? []) into.add(css);
  for (const other of chunk.imports) closure(other, bundle, into);
  return into;
}

/** The addresses in the routes' file with their screens' files. */
function declared(routes: string): [address: string, file: string][] {
  const found = [...readFileSync(routes, "utf8").matchAll(/\.\.\.at\("(?<address>[^"]+)"\)[\s\S]*?import\("(?<file>[^"]+)"\)/g)];
  if (found.length === 0) throw new Error(`preload-screens: ${routes} names no screens`);
  return found.map(({ groups }) => [groups?.["address"] ?? "", join(dirname(routes), `${groups?.["file"]}.tsx`)]);
}
