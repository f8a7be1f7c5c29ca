import { AppError } from "../core/error.ts";
import type { OnTimeout, ToolSpec } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { type Duration, toMs } from "./duration.ts";
import { type Schema, type StandardSchema, toSchema } from "./schema.ts";

/** What a server tool is told besides its input. */
export type ToolContext = {
  callId: string;
  threadId: string;
  user: string;
  /** What the run was given for its tools, besides what the model says. */
  values: JsonObject;
  /** Counts from 1; a retried tool sees 2. */
  attempt: number;
  /** Aborted when the run is cancelled or has no time left. */
  signal: AbortSignal;
  /** Shows how far it has got. */
  progress(output: Json): void;
};

/** A tool as its author writes it. */
export type ToolDefinition<I, O> = {
  name: string;
  description: string;
  input: StandardSchema<I> | JsonObject;
  /** What a result must look like. One from outside that does not is refused and leaves the call open. */
  output?: StandardSchema<O> | JsonObject;
  /** Runs it here. Without it, somebody outside does. */
  execute?: (input: I, context: ToolContext) => unknown;
  /** Who outside: the requesting browser, or (by default) anyone. Only without `execute`. */
  owner?: "client" | "external";
  /** Ask a person first: always, for some inputs, or with a deadline for the decision. Not for client tools. */
  approval?: boolean | ((input: I) => boolean) | { timeout: Duration };
  /** For the outside: from the offer to the result. For `execute`: one attempt. */
  timeout?: Duration;
  /** What becomes of a call nobody answered in time. Default: it fails and the model is told. */
  onTimeout?: "fail" | "deny" | "cancel" | { default: Json };
  /** Attempts after the first failed one of `execute`. */
  retries?: number;
  /** Equal inputs of one user get the same output for this long. */
  cache?: { ttl: Duration };
  /** Running it twice does no harm, so a call cut off by a crash may run again. */
  idempotent?: boolean;
};

/** A tool ready for use. */
export type Tool = {
  spec: ToolSpec;
  input: Schema;
  output: Schema | undefined;
  execute: ((input: unknown, context: ToolContext) => unknown) | undefined;
  owner: "server" | "client" | "external";
  approval: (input: unknown) => { timeout?: number } | undefined;
  /** Whether `approval` asks, as far as that is known before there is an input. */
  asks: "never" | "sometimes" | "always";
  timeout: number | undefined;
  onTimeout: OnTimeout | undefined;
  retries: number;
  cacheTtl: number | undefined;
  idempotent: boolean;
};

/** A tool that remembers what it was declared with, for those who write its handler elsewhere. Only types: nothing is there at run time. */
export type TypedTool<N extends string, I, O> = Tool & { readonly types?: { name: N; input: I; output: O } };

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Declares a tool. Leave out `execute` and the call is handed to the outside.
 *
 * @example
 * const getMenu = tool({ name: "get_menu", description: "The coffee menu", input: z.object({ category: z.string() }), timeout: "30s" });
 */
export function tool<const N extends string, I, O = unknown>(definition: ToolDefinition<I, O> & { name: N }): TypedTool<N, I, O> {
  const { name, description, execute, approval, timeout, onTimeout, retries = 0, cache, idempotent = false } = definition;
  const wrong = (field: string, message: string) => new AppError("invalid", `Tool ${name}: ${message}`, { field });
  if (!NAME.test(name)) throw wrong("name", "a name has 1 to 64 letters, digits, _ or -");
  if (execute && definition.owner) throw wrong("owner", "a tool with `execute` runs on the server; leave `owner` out");
  const owner = execute ? "server" : (definition.owner ?? "external");
  // A browser runs a call as soon as it sees it, so there is no moment at which a person could be asked.
  if (owner === "client" && approval) throw wrong("approval", "a client tool cannot wait for approval; ask inside the browser instead");
  if (!execute && (retries > 0 || cache || idempotent)) throw wrong("execute", "`retries`, `cache` and `idempotent` need `execute`");
  const input = toSchema<I>(definition.input, `Tool ${name}`);
  const ask = typeof approval === "object" ? { timeout: toMs(approval.timeout, `${name}.approval.timeout`) } : {};
  return {
    spec: { name, description, input: input.json },
    input,
    output: definition.output && toSchema<O>(definition.output, `Tool ${name}`),
    execute: execute && ((value, context) => execute(value as I, context)),
    owner,
    approval: (value) => ((typeof approval === "function" ? approval(value as I) : approval) ? ask : undefined),
    asks: typeof approval === "function" ? "sometimes" : approval ? "always" : "never",
    timeout: timeout === undefined ? undefined : toMs(timeout, `${name}.timeout`),
    onTimeout: typeof onTimeout === "object" ? { type: "default", output: onTimeout.default } : onTimeout && { type: onTimeout },
    retries,
    cacheTtl: cache && toMs(cache.ttl, `${name}.cache.ttl`),
    idempotent,
  };
}

// Shared between copies of this package: a configuration may come with one of its own.
const HAND_BACK: unique symbol = Symbol.for("handback.handBack") as never;

/** What `execute` returns to send this one call outside. */
export type HandBack = { [HAND_BACK]: true; timeout: number | undefined };

/**
 * Lets `execute` decide that this one call is for somebody outside.
 *
 * @example
 * execute: ({ amount }) => (amount > 1000 ? handBack({ timeout: "1d" }) : pay(amount))
 */
export function handBack(options: { timeout?: Duration } = {}): HandBack {
  return { [HAND_BACK]: true, timeout: options.timeout === undefined ? undefined : toMs(options.timeout, "handBack.timeout") };
}

export function isHandBack(value: unknown): value is HandBack {
  return typeof value === "object" && value !== null && HAND_BACK in value;
}
