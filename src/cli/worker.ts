import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { runTool, toolCache } from "../agent/run-tool.ts";
import type { Tool } from "../agent/tool.ts";
import { connect, type ExecuteContext } from "../client/client.ts";
import { systemClock } from "../core/clock.ts";
import { AppError } from "../core/error.ts";
import type { Json } from "../core/json.ts";
import type { WorkerSettings } from "./flags.ts";

type Handler = (input: Json, context: ExecuteContext) => unknown;

/** Runs calls of a file's tools for a server elsewhere, until it is told to end; then it finishes what it has begun. */
export async function worker({ file, url, key, concurrency, lease, name }: WorkerSettings): Promise<void> {
  const tools = await loadTools(file);
  const handback = connect({ url, ...(key !== undefined && { headers: { authorization: `Bearer ${key}` } }) });
  const [finish, stop] = [new AbortController(), new AbortController()];
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => (finish.signal.aborted ? stop.abort() : finish.abort())); // asked twice, it does not wait
  }
  process.stdout.write(`Handback worker runs ${Object.keys(tools).join(", ")} for ${url}\n`);
  await handback.execute({
    tools,
    concurrency,
    seconds: lease,
    ...(name !== undefined && { by: name }),
    finish: finish.signal,
    signal: stop.signal,
    onError: (error, call) => process.stderr.write(`${call ? `${call.name} ${call.id}: ` : ""}${textOf(error)}\n`),
  });
}

/** The tools of a file: its default export is a list of `tool({ …, execute })`, or functions by name. */
async function loadTools(file: string): Promise<Record<string, Handler>> {
  const path = resolve(file);
  if (!existsSync(path)) throw new AppError("invalid", `There is no file ${path}`);
  const { default: given } = (await import(pathToFileURL(path).href)) as { default?: readonly Tool[] | Record<string, Handler> };
  const handlers: Record<string, Handler> = {};
  if (Array.isArray(given)) for (const tool of given as readonly Tool[]) handlers[tool.spec.name] = handlerOf(tool, path);
  else Object.assign(handlers, given);
  const wrong = Object.entries(handlers).find(([, handler]) => typeof handler !== "function")?.[0];
  if (wrong !== undefined || Object.keys(handlers).length === 0) {
    const why = wrong === undefined ? "holds no tools" : `: ${wrong} is no function`;
    throw new AppError("invalid", `${path} ${why}; \`export default { get_menu: ({ category }) => … }\` or a list of tool({ …, execute })`);
  }
  return handlers;
}

/** A declared tool as a handler: checked, timed and retried as its declaration says. */
function handlerOf(tool: Tool, path: string): Handler {
  if (!tool.execute) throw new AppError("invalid", `${path}: the tool ${tool.spec.name} has no execute`);
  const cache = toolCache();
  return async (input, { callId, threadId, signal }) => {
    const context = { callId, threadId, user: "", values: {}, progress: () => {} };
    const execution = await runTool(tool, { input, context, signal, internal: {}, clock: systemClock, cache, scope: threadId });
    if (execution.type === "completed") return execution.output;
    throw new Error(execution.type === "failed" ? execution.error : "A worker cannot hand a call back again");
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
