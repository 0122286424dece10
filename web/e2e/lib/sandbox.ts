import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

/** A running program with the page. */
export interface Program {
  base: string;
  /** The token it made, with -login. */
  token?: string;
  /** Ends it as an operator would, and waits until it has ended. */
  stop(): Promise<void>;
  /** Kills it without a warning, and waits until it is gone. */
  kill(): Promise<void>;
}

/** How long the program may take to have its content, in ms: machines that test several things at once are slow. */
const patience = 180_000;

/** Starts the sandbox, and waits until its content stands. */
export async function start(binary: string, ...args: string[]): Promise<Program> {
  const child = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"] });
  const said: string[] = [];
  child.stderr.on("data", (text: Buffer) => said.push(text.toString()));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  try {
    return {
      ...(await ready(child)),
      stop: () => end(child, "SIGTERM", ended),
      kill: () => end(child, "SIGKILL", ended),
    };
  } catch (cause) {
    child.kill("SIGKILL");
    throw new Error(`the sandbox is not ready; it said:\n${said.join("")}`, { cause });
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals, ended: Promise<void>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  await ended;
}

function ready(child: ChildProcess): Promise<Pick<Program, "base" | "token">> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready within ${patience / 1000} s`)), patience);
    child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
    if (!child.stdout) throw new Error("the child has no output");
    let token: string | undefined;
    createInterface(child.stdout).on("line", (line) => {
      token ??= /^token (\S+)/.exec(line)?.[1];
      const base = /^ready (http:\S+)/.exec(line)?.[1];
      if (!base) return;
      clearTimeout(timer);
      resolve({ base: base.replace(/\/$/, ""), ...(token === undefined ? {} : { token }) });
    });
  });
}
