import { createHandback, type Handback } from "../handback.ts";
import { devLog, jsonLog } from "../server/log.ts";
import { loadConfig } from "./config.ts";
import type { Settings } from "./flags.ts";

/** How long runs may go on after SIGTERM before they are stopped and left to the next start. */
const GRACE_MS = 5_000;

/** Serves until the process is told to end. */
export async function start(settings: Settings, options: { dev: boolean }): Promise<Handback> {
  const handback = await serve(settings, options);
  let ending = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (ending) process.exit(1); // a person who asks twice does not want to wait
      ending = true;
      void handback.close({ grace: GRACE_MS }).finally(() => process.exit(0));
    });
  }
  return handback;
}

/** Starts the server and says where it is. */
export async function serve(settings: Settings, { dev }: { dev: boolean }): Promise<Handback> {
  const { config, demo } = await loadConfig(settings);
  const write = (text: string) => void process.stderr.write(text);
  const log = config.log ?? (dev ? devLog(write, process.stderr.isTTY) : jsonLog(write));
  const handback = await createHandback({ ...config, log });
  try {
    const { url } = await handback.listen({ host: settings.host, port: settings.port });
    process.stdout.write(`Handback listening on ${url}\n`);
    const { console: page } = config;
    if (page !== false)
      process.stdout.write(`Its console is at ${url}${page?.basePath ?? "/"}: who owes an agent a result, and a place to give it.\n`);
    if (demo) process.stdout.write(`${DEMO}\n`);
  } catch (error) {
    await handback.close({ grace: 0 });
    throw error;
  }
  return handback;
}

const DEMO = "No model is configured, so a demo agent answers. Give it yours with --model and --base-url, or write a handback.config.ts.";
