import type { Json } from "../../core/json.ts";
import { type AssistantEntry, type CallPart, type Thread, waits } from "../../core/thread.ts";
import type { ModelEvent } from "../../model/model.ts";
import type { Agent } from "../agent.ts";
import { speak } from "../speak.ts";
import type { Tool } from "../tool.ts";

/** An agent that calls one tool and is done with its result: the way of any call, with nobody to think it up. */
export function toolAgent(tool: Tool, input: (state: Json) => Json): Agent {
  const tools = new Map([[tool.spec.name, tool]]);
  return {
    tools,
    next: (thread) => ({ type: waits(thread).length > 0 ? "wait" : lastCall(thread.history) ? "done" : "step" }),
    step(context) {
      const stream = oneCall(tool.spec.name, input(context.thread.state), context.mint("call"));
      return speak(context, { name: "call", stream, tools });
    },
  };
}

/** The call a tool node made last. */
export function lastCall(history: Thread["history"]): CallPart | undefined {
  const entry = history.findLast((entry): entry is AssistantEntry => entry.role === "assistant" && entry.state === "completed");
  return entry?.parts.find((part) => part.type === "call");
}

async function* oneCall(name: string, value: Json, id: string): AsyncGenerator<ModelEvent> {
  yield { type: "tool.started", id, name };
  yield { type: "tool.called", id, name, input: { value } };
  yield { type: "finished", reason: "tool-calls" };
}
