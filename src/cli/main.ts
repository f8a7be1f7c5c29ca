#!/usr/bin/env node
import { AppError } from "../core/error.ts";
import { VERSION } from "../version.ts";
import { HELP, readFlags } from "./flags.ts";

try {
  const { command, settings } = readFlags(process.argv.slice(2), process.env);
  switch (command) {
    case "dev":
      await (await import("./dev.ts")).dev(settings); // loaded when needed: a wrong flag is told at once
      break;
    case "start":
      await (await import("./start.ts")).start(settings, { dev: false });
      break;
    case "worker":
      await (await import("./worker.ts")).worker(settings.worker);
      break;
    case "profile":
      process.stdout.write(await (await import("./profile.ts")).tryProfile(settings));
      break;
    case "graph":
      process.stdout.write(await (await import("./graph.ts")).printGraph(settings));
      break;
    case "help":
      process.stdout.write(HELP);
      break;
    case "version":
      process.stdout.write(`${VERSION}\n`);
      break;
    default:
      command satisfies never;
  }
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
}

/** One sentence for what a person can mend; a stack only for what is our fault. */
function explain(error: unknown): string {
  if (error instanceof AppError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
