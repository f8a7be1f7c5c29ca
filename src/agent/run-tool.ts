import type { Clock } from "../core/clock.ts";
import type { ToolExecution } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { isHandBack, type Tool, type ToolContext } from "./tool.ts";

/** How an execution on this server came out. */
export type Execution =
  | { type: "completed"; output: Json }
  | { type: "failed"; error: string }
  | { type: "handed-back"; timeout: number | undefined };

/** What a thread's `internalConfig` (seed 002) changes about every server tool. */
export type InternalConfig = NonNullable<ToolExecution["internalConfig"]>;

export type ToolRun = {
  input: Json;
  context: Omit<ToolContext, "attempt" | "signal">;
  /** Aborted when the run ends first. */
  signal: AbortSignal;
  internal: InternalConfig;
  clock: Clock;
  cache: ToolCache;
  /** Cached outputs are never shared between users. */
  scope: string;
};

const DEFAULT_TTL = 5 * 60_000;
const BACKOFF = 200;

/** Executes a server tool: cached, retried, timed and checked. Never throws; a failure is an answer for the model. */
export async function runTool(tool: Tool, run: ToolRun): Promise<Execution> {
  const { internal, clock, cache } = run;
  const ttl = tool.cacheTtl ?? (internal.enableCache ? (internal.cacheTtl ?? DEFAULT_TTL) : undefined);
  const key = JSON.stringify([run.scope, tool.spec.name, sorted(run.input)]);
  const kept = ttl === undefined ? undefined : cache.get(key, clock.now());
  if (kept !== undefined) return { type: "completed", output: kept };

  const attempts = 1 + (tool.retries || internal.maxRetries || 0);
  let failure: Execution = { type: "failed", error: "Not run" };
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    if (attempt > 1) await pause(clock, BACKOFF * 2 ** (attempt - 2), run.signal);
    if (run.signal.aborted) return { type: "failed", error: "The run ended first" };
    const execution = await once(tool, run, attempt);
    if (execution.type === "completed" && ttl !== undefined) cache.set(key, execution.output, clock.now() + ttl);
    if (execution.type !== "failed") return execution;
    failure = execution;
  }
  return failure;
}

async function once(tool: Tool, { input, context, signal, clock }: ToolRun, attempt: number): Promise<Execution> {
  const limit = new AbortController();
  let over = false;
  const progress = (output: Json) => {
    if (!over) context.progress(toJson(output));
  };
  const { promise: late, resolve } = Promise.withResolvers<Execution>();
  const call =
    tool.timeout === undefined
      ? undefined
      : clock.after(tool.timeout, () => {
          limit.abort();
          resolve({ type: "failed", error: `Timed out after ${tool.timeout} ms` });
        });
  try {
    return await Promise.race([
      late,
      attend(tool, input, { ...context, attempt, progress, signal: AbortSignal.any([signal, limit.signal]) }),
    ]);
  } finally {
    over = true;
    call?.();
  }
}

async function attend(tool: Tool, input: Json, context: ToolContext): Promise<Execution> {
  try {
    const parsed = await tool.input.check(input);
    if ("problem" in parsed) return { type: "failed", error: `The arguments do not fit the schema: ${parsed.problem}` };
    const output = await tool.execute?.(parsed.value, context);
    if (isHandBack(output)) return { type: "handed-back", timeout: output.timeout };
    const verdict = await tool.output?.check(output);
    if (verdict && "problem" in verdict) return { type: "failed", error: `The tool's output does not fit its schema: ${verdict.problem}` };
    return { type: "completed", output: toJson(output) };
  } catch (error) {
    return { type: "failed", error: (error instanceof Error ? error.message : String(error)).slice(0, 2_000) || "The tool failed" };
  }
}

function toJson(value: unknown): Json {
  const text = JSON.stringify(value ?? null);
  return text === undefined ? null : (JSON.parse(text) as Json);
}

function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(cancel);
}

/** Outputs of server tools, kept in memory for a while; the oldest go first. */
export interface ToolCache {
  get(key: string, now: number): Json | undefined;
  set(key: string, output: Json, until: number): void;
}

export function toolCache(size = 1_000): ToolCache {
  const entries = new Map<string, { output: Json; until: number }>();
  return {
    get(key, now) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (entry.until > now) return entry.output;
      entries.delete(key);
      return undefined;
    },
    set(key, output, until) {
      entries.delete(key);
      entries.set(key, { output, until });
      const oldest = entries.keys().next();
      if (entries.size > size && !oldest.done) entries.delete(oldest.value);
    },
  };
}
