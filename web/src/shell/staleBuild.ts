/** Says whether an error is that a part of the page could not be loaded, as after a deploy that has replaced it. The browsers' words differ. */
export function staleBuild(error: unknown): boolean {
  return error instanceof Error && /dynamically imported module|importing a module script failed|error loading dynamically|unable to preload css|chunkloaderror|is not a valid javascript mime type/i.test(`${error.name} ${error.message}`);
}
