import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

/** `handback start` as a user starts it. */
export type Command = {
  /** Where it listens; rejects if it ends before it does. */
  url: Promise<string>;
  child: ChildProcess;
  /** Milliseconds since it was started. */
  age(): number;
  /** Memory it holds, in megabytes. */
  megabytes(): number;
};

const ROOT = `${import.meta.dirname}/../..`;

export function startCommand(data: string): Command {
  const args = ["src/cli/main.ts", "start", "--port", "0", "--data", data, "--config", "test/kill/config.ts"];
  const begun = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, KILL_TRACE: data },
    stdio: ["ignore", "pipe", "ignore"],
  });
  return {
    child,
    url: listening(child),
    age: () => performance.now() - begun,
    megabytes: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024,
  };
}

async function listening(child: ChildProcess): Promise<string> {
  const line = once(child.stdout as NonNullable<ChildProcess["stdout"]>, "data").then(String);
  const text = await Promise.race([line, once(child, "exit").then(([code]) => `ended with ${code}`)]);
  const url = /listening on (\S+)/.exec(text)?.[1];
  if (url === undefined) throw new Error(`handback start: ${text}`);
  return url;
}
