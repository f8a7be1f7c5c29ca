import type { HumanMessage } from "@langchain/core/messages";
import type { Agent } from "../agent/agent.ts";
import type { Tool } from "../agent/tool.ts";
import { AppError } from "../core/error.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Next } from "../core/step.ts";
import { type Thread, waits } from "../core/thread.ts";
import { toDefinition } from "./definition.ts";
import { type CompiledGraph, host } from "./host.ts";
import { keptOf, unheard } from "./memory.ts";

export type LangGraphOptions = {
  /** What the messages of a turn are to the graph. Default: `{ messages }`. */
  input?: (messages: HumanMessage[], state: Json) => unknown;
  /** What clients see of the graph's values. Default: everything that is plain JSON, which leaves out messages. */
  state?: (values: JsonObject) => JsonObject;
  /** Tools of the graph's model that Handback hands out: the graph ends where it would run them, and goes on with their results. */
  tools?: readonly Tool[];
  /** Supersteps in one run. LangGraph's default is 25. */
  recursionLimit?: number;
  /** What a new message does to calls that wait. Default: they are cancelled. */
  whilePending?: "cancel" | "reject";
};

/**
 * An agent that is a compiled LangGraph.js graph. Its checkpoints are kept in the thread's log, whatever checkpointer it was compiled with.
 *
 * @example
 * langgraph(new StateGraph(MessagesAnnotation).addNode("model", callModel).addEdge(START, "model").compile())
 */
export function langgraph(compiled: CompiledGraph, options: LangGraphOptions = {}): Agent {
  const { whilePending } = options;
  if (!options.input && !("messages" in compiled.channels))
    throw new AppError("invalid", "input: the graph has no `messages`; say what a user's message is to it", { field: "input" });
  for (const [name, channel] of Object.entries(compiled.channels)) {
    if (isDelta(channel)) throw new AppError("invalid", `${name}: a DeltaChannel needs all checkpoints; Handback keeps the latest`);
  }
  const tools = new Map((options.tools ?? []).map((tool) => [tool.spec.name, tool]));
  return {
    tools,
    definition: toDefinition(compiled),
    ...(whilePending && { whilePending }),
    next,
    step: (context) => host(compiled, { ...options, tools }, context),
  };
}

function next(thread: Thread): Next {
  const kept = keptOf(thread);
  if (kept.turn !== thread.turn?.turnId) return { type: "step" };
  if (!kept.done && unheard(thread, kept)) return { type: "step" };
  if (waits(thread).length > 0) return { type: "wait" };
  return kept.done && Object.keys(kept.calls).length === 0 ? { type: "done" } : { type: "step" };
}

function isDelta(channel: unknown): boolean {
  return typeof channel === "object" && channel !== null && "lc_graph_name" in channel && channel.lc_graph_name === "DeltaChannel";
}
