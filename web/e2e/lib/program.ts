import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { start } from "./sandbox";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the program serves, such as `http://127.0.0.1:40123`. */
    base: string;
    /** The program's binary, for journeys that want one of their own. */
    binary: string;
  }
}

/** Builds the program with the page that is embedded, starts it for all journeys, and ends it after them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "ax-journeys-"));
  const binary = process.env["AX_SANDBOX"] ?? join(folder, "sandbox");
  if (!process.env["AX_SANDBOX"]) execFileSync("go", ["build", "-o", binary, "./web/sandbox"], { cwd: join(import.meta.dirname, "../../.."), stdio: "inherit" });
  const program = await start(binary, "-addr", "127.0.0.1:0");
  project.provide("base", program.base);
  project.provide("binary", binary);
  return async () => {
    await program.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}
