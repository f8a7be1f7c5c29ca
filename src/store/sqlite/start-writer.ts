import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { AppError } from "../../core/error.ts";
import { type Reply, unwrap } from "./commit.ts";
import type { Write } from "./write.ts";

/** The main thread's end of the writer. */
export type Writer = { send(write: Write): Promise<unknown>; close(): Promise<void> };

/**
 * Starts the worker that writes to `file`. What is sent while a group is being committed makes up the next group,
 * so an idle writer answers at once and a busy one commits many writes at the price of one.
 */
export async function startWriter(file: string): Promise<Writer> {
  const script = new URL(import.meta.url.endsWith(".ts") ? "./writer.ts" : "./writer.js", import.meta.url);
  const worker = new Worker(script, { workerData: file, execArgv: [], name: "handback-writer" });
  await once(worker, "message");
  worker.unref();

  let queue: Write[] = [];
  let queued: Waiting[] = [];
  let group: Waiting[] | undefined; // the one being committed
  let over: AppError | undefined; // why nothing more is taken

  const flush = () => {
    const done = queue.length === 0;
    if (group || (done && !over)) return;
    worker.ref(); // only work under way keeps the process alive
    worker.postMessage(done ? "close" : queue);
    if (done) return;
    group = queued;
    [queue, queued] = [[], []];
  };
  const stop = (reason: AppError) => {
    over ??= reason;
    for (const { reject } of [...(group ?? []), ...queued]) reject(reason);
    [group, queue, queued] = [undefined, [], []];
  };

  worker.on("message", (replies: Reply[]) => {
    const answered = group ?? [];
    group = undefined;
    worker.unref();
    flush();
    for (const [i, { resolve, reject }] of answered.entries()) {
      try {
        resolve(unwrap(replies[i] as Reply));
      } catch (error) {
        reject(error);
      }
    }
  });
  worker.on("error", (cause) => stop(died(cause)));
  const exited = new Promise<void>((resolve) => {
    worker.on("exit", () => {
      stop(died());
      resolve();
    });
  });

  return {
    send(write) {
      if (over) return Promise.reject(over);
      return new Promise((resolve, reject) => {
        if (queue.push(write) === 1) setImmediate(flush);
        queued.push({ resolve, reject });
      });
    },
    async close() {
      over ??= new AppError("unavailable", "The store is closed");
      flush();
      await exited;
    },
  };
}

function died(cause?: unknown): AppError {
  return new AppError("unavailable", "The store's writer has stopped; restart the server", { cause });
}

type Waiting = { resolve: (value: unknown) => void; reject: (error: unknown) => void };
