// Measures the page in a browser, against the sandbox at its full size (a run of 500 stages, a stage of 100,000 shards that goes on):
//
//	make bench-web [BENCH="--minutes 1"]
//
// It prints what it measures and ends with one line of JSON.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { launch } from "../e2e/lib/chromium";
import { start } from "../e2e/lib/sandbox";
import { measureGraph } from "./graph";
import { measureShards } from "./shards";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    sandbox: { type: "string" },
  },
});
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 60)) throw new Error(`--minutes is ${values.minutes}: it is more than 0 and 60 at most`);

const folder = mkdtempSync(join(tmpdir(), "ax-bench-web-"));
const binary = values.sandbox ?? join(folder, "sandbox");
if (!values.sandbox) execFileSync("go", ["build", "-o", binary, "./web/sandbox"], { cwd: process.env["AX_ROOT"] ?? "..", stdio: "inherit" });
const program = await start(binary, "-addr", "127.0.0.1:0", "-size", "huge", "-quiet");
const browser = await launch();
try {
  const graph = await measureGraph(browser, program.base);
  const shards = await measureShards(browser, program.base, minutes);
  console.log(JSON.stringify({ ...graph, ...shards }));
} finally {
  await browser.close();
  await program.stop();
  rmSync(folder, { recursive: true, force: true });
}
