import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Orders } from "./server.ts";

/** One server process after the other on the same data. The next one is always loaded and waiting, since loading takes longest. */
export type Lives = {
  /** Starts the next life. */
  start(orders: Orders): Life;
  /** The address of the life that is up; waits while there is none. */
  url(): Promise<string>;
  /** What no life should have said, and lives that ended otherwise than by SIGKILL or when told to. */
  complaints: string[];
  close(): void;
};

export type Life = {
  up: Promise<string>;
  over: Promise<void>;
  kill(): void;
  /** Asks it to end by itself. */
  end(): void;
};

export function lives({ spares }: { spares: number }): Lives {
  const complaints: string[] = [];
  const waiting: ChildProcess[] = [];
  const alive = new Set<ChildProcess>();
  let current = Promise.withResolvers<string>();
  let closed = false;
  const prepare = () => {
    while (waiting.length < spares && !closed) waiting.push(spawnServer(alive));
  };
  prepare();
  return {
    complaints,
    url: () => current.promise,
    start(orders) {
      const child = waiting.shift() ?? spawnServer(alive);
      prepare();
      let told = false;
      let announced = false;
      child.stderr?.on("data", (text: Buffer) => complaints.push(text.toString().trim()));
      const over = once(child, "exit").then(([code, signal]) => {
        if (announced) current = Promise.withResolvers<string>(); // who waits for an address goes on waiting
        if (signal !== "SIGKILL" && !told) complaints.push(`A server ended by itself: code ${code}, signal ${signal}`);
      });
      const up = once(child, "message").then(([message]) => {
        const { url } = message as { url: string };
        if (child.exitCode === null && child.signalCode === null) {
          announced = true;
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
    },
  };
}

function spawnServer(alive: Set<ChildProcess>): ChildProcess {
  const child = fork(`${import.meta.dirname}/server.ts`, { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
  alive.add(child);
  return child.once("exit", () => alive.delete(child));
}
