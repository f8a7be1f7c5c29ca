import { AppError } from "../../core/error.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { AssistantEntry, Thread } from "../../core/thread.ts";
import type { Agent } from "../agent.ts";
import { type Duration, toMs } from "../duration.ts";
import type { StandardSchema } from "../schema.ts";
import type { Tool, TypedTool } from "../tool.ts";
import type { Command } from "./command.ts";
import type { Graph } from "./graph.ts";
import { toolAgent } from "./tool-agent.ts";

/** What a node is told, and what it can say while it runs. */
export type NodeContext<S = JsonObject> = {
  /** Frozen, and shared with the nodes beside it. */
  state: S;
  /** What `send` gave this task alone. */
  input: Json | undefined;
  node: string;
  taskId: string;
  /** The thread as it is: its messages, its options, what the request gave in `options.values`. To be read only. */
  thread: Thread;
  /** Counts from 1; a retried node sees 2. */
  attempt: number;
  /** Aborted when the run is cancelled, or the node or the run has no time left. */
  signal: AbortSignal;
  /**
   * Asks the outside. Without an answer it throws and the node is suspended; with one, the node runs again from its start and gets it here.
   * A question that was cancelled or has expired throws an `AppError` (`gone`, `timeout`) that the node may catch.
   */
  interrupt<T = Json>(key: string, prompt: Json, options?: InterruptOptions<T>): Promise<T>;
  /** Says something, as one message for each run of the node. */
  text(delta: string): void;
  /** Tells how far it has got: a number from 0 to 1, or whatever it likes. */
  progress(progress: Json, message?: string): void;
  /** Tells clients something of the app's own. */
  emit(name: string, value: Json): void;
  /** Changes something that is shown beside the conversation, by JSON patch. */
  activity(type: string, ops: Json[], id?: string): void;
};

export type InterruptOptions<T> = {
  schema?: StandardSchema<T> | JsonObject;
  /** What kind of question it is, for those who list them. Default `"question"`. */
  reason?: string;
  /** How long it waits for an answer. */
  timeout?: Duration;
};

// biome-ignore lint/suspicious/noConfusingVoidType: a node may just do something
export type NodeResult<U> = U | Command<U> | undefined | void;
export type NodeFunction<S, U> = (context: NodeContext<S>) => NodeResult<U> | Promise<NodeResult<U>>;

export type Retry = {
  /** How often it is tried in all. */
  attempts: number;
  /** Before the second try; each further one waits twice as long. Default `"1s"`. */
  delay?: Duration;
  /** Longest it waits. Default `"1m"`. */
  maxDelay?: Duration;
  /** Whether an error is worth another try. Default: all are. */
  when?: (error: unknown) => boolean;
};

export type NodeOptions<N extends string = string> = {
  description?: string;
  retry?: Retry;
  /** Longest one try may run. Waiting for the outside does not count. */
  timeout?: Duration;
  /** Where its commands may go; any other place is refused. Drawings show it, and a node only commands lead to needs it. */
  to?: readonly N[];
};

/** What a chat agent in a node came up with. */
export type Answer = { text: string; entries: readonly AssistantEntry[] };

/** What became of a tool node's call, where it did not complete. */
export type ToolFailure = { status: "failed" | "rejected" | "expired" | "cancelled"; error: string };

/** How much of the thread an agent in a node sees besides what it says itself. */
export type Sees = "nothing" | "conversation" | "all";

type Common = {
  description: string | undefined;
  retry: Required<RetryMs> | undefined;
  timeout: number | undefined;
  to: readonly string[] | undefined;
};
type RetryMs = { attempts: number; delay: number; maxDelay: number; when: (error: unknown) => boolean };

/** A node ready for use. `S` and `U` are the graph's state and its updates. */
export type Node<S = never, U = unknown> = Common &
  (
    | { kind: "node"; run: NodeFunction<S, U> }
    | { kind: "agent"; agent: Agent; sees: Sees; input?: (state: S) => string; output?: (answer: Answer, state: S) => NodeResult<U> }
    | {
        kind: "tool";
        agent: Agent;
        tool: Tool;
        output?: (output: never, state: S) => NodeResult<U>;
        failed?: (failure: ToolFailure, state: S) => NodeResult<U>;
      }
    | { kind: "graph"; graph: Graph<never, unknown>; input?: (state: S) => unknown; output?: (inner: never, state: S) => NodeResult<U> }
  );

/**
 * A node that is a function. A bare function does the same without options.
 *
 * @example
 * node(async ({ state }) => ({ log: [await cook(state.dish)] }), { retry: { attempts: 3 }, timeout: "30s" })
 */
export function node<S, U, const N extends string = string>(run: NodeFunction<S, NoInfer<U>>, options: NodeOptions<N> = {}): Node<S, U> {
  return { kind: "node", run, ...common(options) };
}

/**
 * A node that is an agent: its tools (client, external, with approval) pause the graph and resume it. It sees its `input` as a user's message,
 * or without one the conversation; what it says and calls is its own.
 *
 * @example
 * agentNode(chatAgent({ model }), { input: (state) => `Plan ${state.dish}`, output: ({ text }) => ({ plan: text }) })
 */
export function agentNode<S, U>(
  agent: Agent,
  options: Omit<NodeOptions, "to"> & {
    input?: (state: S) => string;
    output?: (answer: Answer, state: S) => NodeResult<U>;
    /** Default: nothing where there is an `input`, else the conversation up to this turn's message. `"all"`: also what finished nodes said. */
    sees?: Sees;
    to?: readonly string[];
  } = {},
): Node<S, U> {
  const { input, output, sees = input ? "nothing" : "conversation" } = options;
  if ("definition" in agent && agent.definition) throw new AppError("invalid", "agentNode: this agent is a graph; use graphNode");
  return { kind: "agent", agent, sees, ...(input && { input }), ...(output && { output }), ...common(options) };
}

/**
 * A node that calls one tool with an input made from the state, wherever that tool runs.
 *
 * @example
 * toolNode(search, { input: (state) => ({ q: state.dish }), output: (found) => ({ found }) })
 */
export function toolNode<S, U, I, O>(
  tool: TypedTool<string, I, O>,
  options: Omit<NodeOptions, "retry"> & {
    input: (state: S) => NoInfer<I>;
    output?: (output: NoInfer<O>, state: S) => NodeResult<U>;
    /** What a call that failed, was rejected or expired leads to. Default: the failure of the node. */
    failed?: (failure: ToolFailure, state: S) => NodeResult<U>;
  },
): Node<S, U> {
  const { input, output, failed } = options;
  const agent = toolAgent(tool, (state) => input(state as S) as Json);
  return { kind: "tool", agent, tool, ...(output && { output: output as never }), ...(failed && { failed }), ...common(options) };
}

/**
 * A node that is a graph with a state of its own. Its questions and calls are the outer graph's too.
 *
 * @example
 * graphNode(research, { input: (state) => ({ topic: state.dish }), output: (inner) => ({ facts: inner.facts }) })
 */
export function graphNode<S, U, IS, IU>(
  graph: Graph<IS, IU>,
  options: NodeOptions & { input?: (state: S) => NoInfer<IU>; output?: (inner: NoInfer<IS>, state: S) => NodeResult<U> } = {},
): Node<S, U> {
  const { input, output } = options;
  return {
    kind: "graph",
    graph: graph as unknown as Graph<never, unknown>,
    ...(input && { input }),
    ...(output && { output: output as never }),
    ...common(options),
  };
}

/** A node as the graph's author wrote it. */
export function toNode<S, U>(made: Node<S, U> | NodeFunction<S, U>): Node<S, U> {
  return typeof made === "function" ? node(made) : made;
}

function common({ description, retry, timeout, to }: NodeOptions): Common {
  if (retry && !(Number.isInteger(retry.attempts) && retry.attempts >= 1))
    throw new AppError("invalid", "retry.attempts must be a whole number from 1 on", { field: "retry.attempts" });
  return {
    description,
    retry: retry && {
      attempts: retry.attempts,
      delay: toMs(retry.delay ?? "1s", "retry.delay"),
      maxDelay: toMs(retry.maxDelay ?? "1m", "retry.maxDelay"),
      when: retry.when ?? (() => true),
    },
    timeout: timeout === undefined ? undefined : toMs(timeout, "timeout"),
    to,
  };
}
