import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Orders } from "./server.ts";

/** One server process after the other on the same data. The next one is always loaded and waiting, since loading takes longest. */
export type Lives = {
  /** Starts the next life. */
  start(orders: Orders): Life;
  /** The address of the life that is up; waits while there is none. */
  url(): Promise<string>;
  /** What no life should have said, and lives that ended otherwise than by SIGKILL or when told to. */
  complaints: string[];
  /** When each was up. */
  uptimes: Uptime[];
  close(): void;
};

export type Uptime = { from: number; to: number };

export type Life = {
  up: Promise<string>;
  over: Promise<void>;
  kill(): void;
  /** Asks it to end by itself. */
  end(): void;
};

export function lives({ spares }: { spares: number }): Lives {
  const code = compile();
  const server = join(code, "test/kill/server.js");
  const complaints: string[] = [];
  const uptimes: Uptime[] = [];
  const waiting: ChildProcess[] = [];
  const alive = new Set<ChildProcess>();
  let current = Promise.withResolvers<string>();
  let closed = false;
  const prepare = () => {
    while (waiting.length < spares && !closed) {
      const child = fork(server, { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
      child.stderr?.on("data", (text: Buffer) => complaints.push(text.toString().trim()));
      child.once("exit", () => alive.delete(child));
      alive.add(child);
      waiting.push(child);
    }
  };
  prepare();
  return {
    complaints,
    uptimes,
    url: () => current.promise,
    start(orders) {
      const child = waiting.shift();
      if (!child?.connected) throw new Error(`A server did not even load: ${complaints.join("\n")}`);
      prepare();
      let told = false;
      let uptime: Uptime | undefined;
      const over = once(child, "exit").then(([code, signal]) => {
        if (uptime) {
          uptime.to = Date.now();
          current = Promise.withResolvers<string>(); // of lives that never came up nobody has heard
        }
        if (signal !== "SIGKILL" && !told) complaints.push(`A server ended by itself: code ${code}, signal ${signal}`);
      });
      const up = once(child, "message").then(([message]) => {
        const { url } = message as { url: string };
        if (child.exitCode === null && child.signalCode === null) {
          uptime = { from: Date.now(), to: Number.POSITIVE_INFINITY };
          uptimes.push(uptime);
          current.resolve(url);
        }
        return url;
      });
      child.send(orders);
      return {
        up,
        over,
        kill: () => void child.kill("SIGKILL"),
        end() {
          told = true;
          child.send("end");
        },
      };
    },
    close() {
      closed = true;
      for (const child of alive) child.kill("SIGKILL");
      rmSync(code, { recursive: true });
    },
  };
}

/** The server as JavaScript: taking the types out takes longer than everything else in a start, and twice, for the writer too. */
function compile(): string {
  const root = join(import.meta.dirname, "../..");
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  const out = mkdtempSync(join(root, "node_modules/.cache/handback-kill-")); // where packages are found
  execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", import.meta.dirname, "--outDir", out]);
  return out;
}
