import { z } from "zod";

// What the REST door answers, for its description; the code that writes it is `answer.ts` and the routes.

const maybe = z.exactOptional;
const json = z.unknown();
const object = z.record(z.string(), z.unknown());
const time = z.iso.datetime();

const toolCall = z.object({
  toolName: z.string(),
  result: json.describe("null as long as there is none"),
  success: z.boolean(),
  toolCallId: z.string(),
  args: maybe(json),
  status: z.enum(["pending", "completed", "failed", "rejected", "expired", "cancelled"]),
  error: maybe(z.string()),
  metadata: maybe(object),
  expiresAt: maybe(time),
});
const question = z.object({
  kind: z.literal("interrupt"),
  id: z.string().describe("The `interruptId` of its answer"),
  reason: z.string(),
  prompt: json,
  schema: maybe(object),
  toolCallId: maybe(z.string()),
  expiresAt: maybe(time),
  node: maybe(z.string().describe("The node of a graph that asks")),
  key: maybe(z.string()),
});
const answer = z.object({
  content: z.string().describe("What the agent said last"),
  toolCalls: z.array(toolCall).describe("What it called, and what still waits"),
  metadata: z.object({ threadId: z.string(), toolsUsed: z.array(z.string()) }),
  status: z.enum(["done", "waiting", "cancelled", "failed", "running"]),
  remaining: z.int().describe("Calls and questions that wait"),
  interrupts: maybe(z.array(question)),
});
const settled = z.object({
  toolCallId: maybe(z.string()),
  interruptId: maybe(z.string()),
  toolName: maybe(z.string()),
  metadata: maybe(object),
});
const processed = z.object({
  message: z.string(),
  threadId: z.string(),
  agentResponse: answer,
  status: answer.shape.status,
  remaining: z.int(),
  toolCallId: maybe(z.string()),
  interruptId: maybe(z.string()),
  toolName: maybe(z.string()),
  metadata: maybe(object),
  results: z.array(settled).describe("The calls and questions this request settled"),
});

/** The answer of `POST /chat`. */
const chatAnswer = z.object({ success: z.literal(true), data: answer });

/** The answer of `GET /chat/pending-tools/:id`. */
const pendingAnswer = z.object({
  success: z.literal(true),
  data: z.object({
    threadId: z.string(),
    pendingToolCalls: z.array(
      z.object({
        kind: z.literal("call"),
        id: z.string(),
        name: z.string(),
        args: json,
        description: z.string(),
        timestamp: time,
        threadId: z.string(),
        status: z.literal("pending"),
        expiresAt: maybe(time),
      }),
    ),
    count: z.int(),
    pendingInterrupts: z.array(question).describe("Questions that a person must answer; nothing to execute"),
  }),
});

/** The answer of `POST /chat/tool-result`. */
const toolResultAnswer = z.object({ success: z.literal(true), data: processed, ok: maybe(z.literal(true)) });

/** The answer of `POST /chat/tool-heartbeat`. */
const heartbeatAnswer = z.object({ success: z.literal(true), data: z.object({ toolCallId: z.string(), until: time }) });

/** What the REST door says when it refuses; a run that failed comes with what it had said. */
const restError = z.object({
  success: z.literal(false),
  error: z.string(),
  code: z.string(),
  field: maybe(z.string()),
  data: maybe(z.union([answer, processed])),
});

/** Everything this door answers, by name. */
export const ANSWERS: Readonly<Record<"chat" | "pending" | "toolResult" | "heartbeat" | "error", z.ZodType>> = {
  chat: chatAnswer,
  pending: pendingAnswer,
  toolResult: toolResultAnswer,
  heartbeat: heartbeatAnswer,
  error: restError,
};
