import type { ToolMessage } from "@langchain/core/messages";
import type { StepContext } from "../agent/agent.ts";
import type { Tool } from "../agent/tool.ts";
import type { Event, Owner } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { Call, CallPart, Thread } from "../core/thread.ts";

const LANGGRAPH = { by: "langgraph", via: "agent" };

/** Who runs a call the graph's model makes: whoever a tool of ours or of the request says, otherwise the graph itself. */
export function ownerOf(name: string, tools: ReadonlyMap<string, Tool>, { thread }: StepContext): { owner: Owner; inside: boolean } {
  const tool = tools.get(name);
  if (tool) return { owner: tool.owner, inside: false };
  if (thread.tools.some((spec) => spec.name === name)) return { owner: "client", inside: false };
  return { owner: "server", inside: true };
}

/** The open call that LangGraph knows by this id. */
export function callNamed({ calls }: Thread, toolCallId: string): Call | undefined {
  return [...calls.values()].find(({ part }) => part?.provider?.["toolCallId"] === toolCallId);
}

/** What came of a call that the graph ran by itself. */
export function returned({ callId, name, owner }: Pick<Call, "callId" | "name" | "owner">, message: ToolMessage): Event {
  const { content, status } = message;
  const output = content as unknown as Json;
  const failed = status === "error";
  return {
    type: "tool.returned",
    callId,
    name,
    owner,
    messageId: `${callId}:result`,
    status: failed ? "failed" : "completed",
    ...(failed ? { error: typeof content === "string" ? content : JSON.stringify(content) } : { output }),
    ...LANGGRAPH,
  };
}

/** The results of calls that others ran, in the words of LangGraph; undefined while one of them is missing. */
export function resultsFor(
  thread: Thread,
  calls: { [callId: string]: string },
): { toolCallId: string; name: string; settled: Settlement }[] {
  const parts = new Map<string, CallPart>();
  for (const entry of thread.history) {
    if (entry.role === "user" || entry.turnId !== thread.turn?.turnId) continue;
    for (const part of entry.parts) if (part.type === "call") parts.set(part.callId, part);
  }
  return Object.entries(calls).flatMap(([callId, toolCallId]) => {
    const { name = "", settlement } = parts.get(callId) ?? {};
    return settlement ? [{ toolCallId, name, settled: settlement }] : [];
  });
}

type Settlement = NonNullable<CallPart["settlement"]>;
