import type { StoredEvent, Wait } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";

/** A call in an answer: the seed's `toolName`, `result` and `success`, and what else there is to know. */
export type ToolCall = {
  toolName: string;
  result: Json;
  success: boolean;
  toolCallId: string;
  args?: Json;
  status: string;
  error?: string;
  metadata?: JsonObject;
  expiresAt?: string;
};

/** What the agent said and did between two places of the log. */
export type Answer = {
  content: string;
  toolCalls: ToolCall[];
  metadata: { threadId: string; toolsUsed: string[] };
  /** `running` when the log had not come to an end yet. */
  status: "done" | "waiting" | "cancelled" | "failed" | "running";
  /** Calls and questions that still wait. */
  remaining: number;
  interrupts?: Question[];
};

/** Something only a person can say: whether a call may be made, or what a graph asks. */
export type Question = {
  kind: "interrupt";
  id: string;
  reason: string;
  prompt: Json;
  schema?: JsonObject;
  toolCallId?: string;
  expiresAt?: string;
  /** Where in a graph it is asked. */
  node?: string;
  key?: string;
};

/** The seed's envelope as a view of the log: what was said last, what was called, and what is still open. */
export function toAnswer(threadId: string, events: readonly StoredEvent[]): Answer {
  const calls = new Map<string, ToolCall>();
  const used = new Set<string>();
  const answer: Answer = { content: "", toolCalls: [], metadata: { threadId, toolsUsed: [] }, status: "running", remaining: 0 };
  /** What each step has said so far: in a graph several may speak at once. */
  const said = new Map<string, string>();
  const speakers = new Map<string, string>();
  let waits: readonly Wait[] = [];
  for (const event of events) {
    switch (event.type) {
      case "text.started":
        speakers.set(event.messageId, event.stepId);
        break;
      case "text.ended": {
        const step = speakers.get(event.messageId) ?? "";
        said.set(step, (said.get(step) ?? "") + event.text);
        break;
      }
      case "step.ended":
        // A step that died is said again by the one that follows.
        if (event.completed) answer.content = said.get(event.stepId) ?? answer.content;
        break;
      case "tool.called":
        calls.set(event.callId, { ...pending(event.callId, event.name), args: event.input });
        used.add(event.name);
        break;
      case "call.offered": {
        const call = calls.get(event.callId);
        if (call) Object.assign(call, { args: event.input }, deadline(event.expiresAt));
        break;
      }
      case "tool.returned":
        settle(calls.get(event.callId), event);
        break;
      case "run.started":
        answer.status = "running";
        waits = [];
        break;
      case "run.ended":
        answer.status = event.outcome.type;
        waits = event.outcome.type === "waiting" ? event.outcome.for : [];
        break;
    }
  }
  for (const wait of waits) {
    if (wait.type === "call" && !calls.has(wait.callId)) calls.set(wait.callId, open(wait));
  }
  const interrupts = waits.filter((wait) => wait.type === "interrupt");
  return {
    ...answer,
    toolCalls: [...calls.values()],
    metadata: { threadId, toolsUsed: [...used] },
    remaining: waits.length,
    ...(interrupts.length > 0 && { interrupts: interrupts.map(question) }),
  };
}

function pending(toolCallId: string, toolName: string): ToolCall {
  return { toolName, result: null, success: true, toolCallId, status: "pending" };
}

function open({ callId, name, expiresAt }: Extract<Wait, { type: "call" }>): ToolCall {
  return { ...pending(callId, name), ...deadline(expiresAt) };
}

function deadline(expiresAt: number | undefined): { expiresAt?: string } {
  return expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() };
}

function settle(call: ToolCall | undefined, event: Extract<StoredEvent, { type: "tool.returned" }>): void {
  if (!call) return;
  const { status, output = null, error, metadata } = event;
  Object.assign(call, { status, result: output, success: status === "completed" });
  if (error !== undefined) call.error = error;
  if (metadata) call.metadata = metadata;
}

/** A question as this door tells it. */
export function question(wait: Omit<Extract<Wait, { type: "interrupt" }>, "type">): Question {
  const { interruptId, reason, prompt, schema, callId, expiresAt, place } = wait;
  return {
    kind: "interrupt",
    id: interruptId,
    reason,
    prompt,
    ...(schema && { schema }),
    ...(callId !== undefined && { toolCallId: callId }),
    ...deadline(expiresAt),
    ...(place && { node: place.path.join("/") }),
    ...(place?.key !== undefined && { key: place.key }),
  };
}
