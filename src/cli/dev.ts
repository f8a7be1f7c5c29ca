import { watch } from "node:fs";
import { dirname } from "node:path";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { AppError } from "../core/error.ts";
import { configPath } from "./config.ts";
import type { Settings } from "./flags.ts";
import { serve } from "./start.ts";

const SETTLE_MS = 150;

/**
 * Serves, and serves anew when a source file beside the configuration changes. The server lives in a worker thread,
 * so that each start sees fresh modules, and a killed process leaves nothing behind.
 */
export async function dev(settings: Settings): Promise<void> {
  const path = configPath(settings);
  let server = run(settings);
  await server.ready;
  let ending = false;
  const end = () => {
    if (ending) process.exit(1);
    ending = true;
    void server.stop().finally(() => process.exit(0));
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
  if (path === undefined) return;

  let timer: NodeJS.Timeout | undefined;
  watch(dirname(path), { recursive: true }, (_, file) => {
    if (ending || !file || !/\.(m?[jt]s|json)$/.test(file) || /(^|[\\/])(node_modules|\.[^\\/]+)[\\/]/.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      process.stderr.write(`${file} has changed; starting again\n`);
      const before = server;
      server = run(settings, before.stop());
      server.ready.catch((error: unknown) =>
        process.stderr.write(`${error instanceof Error ? error.message : String(error)}\nWaiting for the next change.\n`),
      );
    }, SETTLE_MS);
  });
}

type Served = { ready: Promise<void>; stop: () => Promise<void> };

function run(settings: Settings, after: Promise<void> = Promise.resolve()): Served {
  let worker: Worker | undefined;
  const over = Promise.withResolvers<void>();
  const ready = after.then(
    () =>
      new Promise<void>((resolve, reject) => {
        worker = new Worker(new URL(import.meta.url), { workerData: { handbackDev: settings } });
        worker.on("message", (message: { ready: true } | { error: string }) =>
          "ready" in message ? resolve() : reject(new AppError("invalid", message.error)),
        );
        worker.on("error", reject);
        worker.on("exit", () => {
          reject(new AppError("unavailable", "The server ended"));
          over.resolve();
        });
      }),
  );
  return {
    ready,
    async stop() {
      await ready.catch(() => {});
      worker?.postMessage("stop");
      if (worker) await over.promise;
    },
  };
}

if (!isMainThread && workerData?.handbackDev) {
  try {
    const handback = await serve(workerData.handbackDev, { dev: true });
    parentPort?.postMessage({ ready: true });
    parentPort?.once("message", () => void handback.close({ grace: 1_000 }).finally(() => process.exit(0)));
  } catch (error) {
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) });
    parentPort?.close();
  }
}
