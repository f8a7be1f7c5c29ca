import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after } from "node:test";

/** A `handback` process, with what it has printed so far. */
export type ServerProcess = {
  child: ChildProcess;
  url: string;
  stdout: () => string;
  stderr: () => string;
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
};

const MAIN = resolve("src/cli/main.ts");

/** Starts `handback` as a user would and waits for the line that says where it listens. */
export async function startServer(args: string[], options: { env?: Record<string, string>; cwd?: string } = {}): Promise<ServerProcess> {
  const { child, output, exited } = launch(args, options);
  const url = await Promise.race([
    until(() => /Handback listening on (http:\S+)\n/.exec(output.stdout)?.[1], child),
    exited.then((code) => {
      throw new Error(`handback ended with ${code}: ${output.stderr}`);
    }),
  ]);
  return {
    child,
    url,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
  };
}

/** Runs `handback` to its end. */
export async function runCli(
  args: string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { output, exited } = launch(args, options);
  return { code: await exited, ...output };
}

/** A directory that is gone when the test file is done. */
export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), "handback-"));
  after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Waits for something a process says or does; its output is the clock. */
export async function until<T>(find: () => T | undefined, child: ChildProcess): Promise<T> {
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    await Promise.race([once(child.stdout as never, "data"), once(child.stderr as never, "data"), once(child, "exit")]);
    if (child.exitCode !== null && find() === undefined) throw new Error("the process ended first");
  }
}

function launch(args: string[], { env = {}, cwd = process.cwd() }: { env?: Record<string, string>; cwd?: string }) {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(HANDBACK|OPENAI|NODE_TEST)/.test(name)));
  const child = spawn(process.execPath, ["--conditions=handback-source", MAIN, ...args], {
    cwd,
    env: { ...clean, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output.stderr += chunk;
  });
  const exited = once(child, "close").then(([code]) => code as number | null);
  after(() => void child.kill("SIGKILL"));
  return { child, output, exited };
}
