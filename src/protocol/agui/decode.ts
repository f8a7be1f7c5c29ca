import { z } from "zod";
import type { Answer, Result } from "../../core/command.ts";
import { AppError } from "../../core/error.ts";
import type { Part, RunOptions, ToolSpec } from "../../core/event.ts";
import { ID_PATTERN } from "../../core/ids.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { parse } from "../parse.ts";
import { toPart, type WirePart } from "./parts.ts";
import { type Peer, peerOf } from "./peer.ts";

/** A message of a request; its files are still inside it. */
export type Said = { id: string; content: string | (Part | { type: "file"; mediaType: string; data: Uint8Array })[]; name?: string };

/** A request, as far as this server acts on it. */
export type AguiRequest = {
  threadId: string;
  runId: string;
  parentRunId?: string;
  peer: Peer;
  messages: Said[];
  results: Result[];
  answers: Answer[];
  tools: ToolSpec[];
  options: RunOptions;
  state?: Json;
  /** What this client already shows. */
  shown: Shown;
};

/** The ids a client shows: its messages, and the calls it has a result for. */
export type Shown = { messages: ReadonlySet<string>; calls: ReadonlySet<string>; results: ReadonlySet<string> };

const id = z.string().regex(ID_PATTERN, "an id has 1 to 200 letters, digits or . _ : @ | / + = -");
/** Clients write `null` where they mean nothing. */
const maybe = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
const json = z.json() as unknown as z.ZodType<Json>;
const object = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;

const part = z.looseObject({ type: z.string() }) as unknown as z.ZodType<WirePart>;

const message = z.discriminatedUnion(
  "role",
  [
    z.looseObject({ role: z.literal("user"), id: maybe(id), content: z.union([z.string(), z.array(part)]), name: maybe(z.string()) }),
    z.looseObject({
      role: z.literal("tool"),
      id: maybe(id),
      toolCallId: maybe(id),
      tool_call_id: maybe(id),
      tool_id: maybe(id),
      name: maybe(z.string()),
      tool_name: maybe(z.string()),
      content: z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))]),
      error: maybe(z.string()),
    }),
    z.looseObject({ role: z.literal("assistant"), id: maybe(z.string()), toolCalls: maybe(z.array(z.looseObject({ id: z.string() }))) }),
    z.looseObject({ role: z.enum(["system", "developer", "reasoning", "activity"]), id: maybe(z.string()) }),
  ],
  {
    error: (issue) =>
      issue.code === "invalid_union" ? "must be user, tool, assistant, system, developer, reasoning or activity" : undefined,
  },
);

/** `RunAgentInput`, as today's clients and the seeds write it. Unknown fields pass by: clients may be newer. */
const runInput = z.looseObject({
  threadId: id,
  runId: maybe(id),
  parentRunId: maybe(id),
  protocolVersion: maybe(z.string()),
  messages: maybe(z.array(message)),
  tools: maybe(z.array(z.looseObject({ name: z.string().min(1).max(128), description: maybe(z.string()), parameters: maybe(object) }))),
  context: maybe(z.array(z.looseObject({ description: z.string(), value: z.string() }))),
  state: maybe(json),
  resume: maybe(
    z.array(z.looseObject({ interruptId: id, status: z.enum(["resolved", "cancelled"]).default("resolved"), payload: maybe(json) })),
  ),
});

type Input = z.infer<typeof runInput>;

/** The thread a cancel is for; it needs to name nothing else. */
export function decodeThread(body: unknown): string {
  return parse(z.looseObject({ threadId: id }), body).threadId;
}

/** Reads a request. `mint` names what the client left nameless. */
export function decode(body: unknown, mint: (prefix: string) => string): AguiRequest {
  const input = parse(runInput, body);
  const { threadId, parentRunId, protocolVersion, context, state } = input;
  const shown = { messages: new Set<string>(), calls: new Set<string>(), results: new Set<string>() };
  const messages: Said[] = [];
  const results: Result[] = [];
  for (const [i, said] of (input.messages ?? []).entries()) {
    if (said.id !== undefined) shown.messages.add(said.id);
    switch (said.role) {
      case "user":
        messages.push(toSaid(said, i, mint));
        break;
      case "tool": {
        const result = toResult(said, i);
        shown.results.add(result.callId);
        results.push(result);
        break;
      }
      case "assistant":
        for (const call of said.toolCalls ?? []) shown.calls.add(call.id);
        break;
      default:
        break; // what the model or the developer said is ours to know, not the client's to tell
    }
  }
  return {
    threadId,
    runId: input.runId ?? mint("run"),
    ...(parentRunId !== undefined && { parentRunId }),
    peer: peerOf(protocolVersion),
    messages,
    results,
    answers: (input.resume ?? []).map(toAnswer),
    tools: (input.tools ?? []).map(({ name, description = "", parameters }) => ({
      name,
      description,
      input: parameters ?? { type: "object" },
    })),
    options: context && context.length > 0 ? { context: context.map(({ description, value }) => ({ description, value })) } : {},
    ...(state !== undefined && { state }),
    shown,
  };
}

type Message<R extends string> = Extract<NonNullable<Input["messages"]>[number], { role: R }>;

function toSaid({ id: given, content, name }: Message<"user">, i: number, mint: (prefix: string) => string): Said {
  const field = `messages.${i}.content`;
  if (content.length === 0) throw new AppError("invalid", `${field}: a message must say something`, { field });
  const id = given ?? mint("msg");
  const parts = typeof content === "string" ? content : content.map((wire, k) => toPart(wire, `${field}.${k}`));
  return { id, content: parts, ...(name !== undefined && { name }) };
}

function toResult(message: Message<"tool">, i: number): Result {
  const callId = message.toolCallId ?? message.tool_call_id ?? message.tool_id;
  if (callId === undefined)
    throw new AppError("invalid", `messages.${i}.toolCallId: a tool message names its call`, { field: `messages.${i}.toolCallId` });
  const { content, error, id } = message;
  const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
  const name = message.tool_name ?? message.name;
  return {
    callId,
    ...(error === undefined ? { status: "completed", output: text } : { status: "failed", error }),
    messageId: id ?? `${callId}:result`,
    ...(name !== undefined && { name }),
  };
}

function toAnswer({ interruptId, status, payload }: NonNullable<Input["resume"]>[number]): Answer {
  return { interruptId, status, ...(payload !== undefined && { value: payload }) };
}
