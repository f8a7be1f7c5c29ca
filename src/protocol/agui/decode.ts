import { z } from "zod";
import type { Answer, Result, Resume } from "../../core/command.ts";
import { AppError } from "../../core/error.ts";
import type { Part, RunOptions, ToolSpec } from "../../core/event.ts";
import { ID_PATTERN } from "../../core/ids.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { parse } from "../parse.ts";
import { type InlinePart, toPart, type WirePart } from "./parts.ts";
import { type Peer, peerOf } from "./peer.ts";
import { readResume } from "./resume.ts";

/** A message of a request; its files are still inside it. */
export type Said = { id: string; content: string | (Part | InlinePart)[]; name?: string };

/** A request, as far as this server acts on it. */
export type AguiRequest = {
  threadId: string;
  runId: string;
  parentRunId?: string;
  peer: Peer;
  messages: Said[];
  results: Result[];
  answers: Answer[];
  /** What a graph goes on with, in seed 003's words. */
  resume?: Resume;
  tools: ToolSpec[];
  options: RunOptions;
  state?: Json;
  /** What this client already shows. */
  shown: Shown;
};

/** What a client shows: its messages in order, the calls in them, and the calls it has a result for. */
export type Shown = {
  messages: ReadonlySet<string>;
  calls: ReadonlySet<string>;
  results: ReadonlySet<string>;
  /** What assistants have said so far, by message. */
  texts: ReadonlyMap<string, string>;
  /** It keeps a list and named it; a request of nothing but results, or without ids, tells nothing about what its client shows. */
  list: boolean;
};

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
    z.looseObject({
      role: z.literal("assistant"),
      id: maybe(z.string()),
      content: z.unknown().optional(),
      toolCalls: maybe(z.array(z.looseObject({ id: z.string() }))),
      tool_calls: maybe(z.array(z.looseObject({ id: z.string() }))),
    }),
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
  forwardedProps: maybe(json),
  resume: maybe(
    z.array(
      z.looseObject({
        interruptId: z.string().min(1).max(500),
        status: z.enum(["resolved", "cancelled"]).default("resolved"),
        payload: maybe(json),
      }),
    ),
  ),
});

/** `RunAgentInput` as it came: what hooks and resolvers see. */
export type AguiInput = z.infer<typeof runInput>;

/** Checks that a body is a `RunAgentInput`; a cancel and a history need only name their thread. */
export function readInput(body: unknown): AguiInput {
  return parse(runInput, isObject(body) ? withoutSnakes(body) : body);
}

/** The names other AG-UI servers also read. */
const SNAKES = { thread_id: "threadId", run_id: "runId", parent_run_id: "parentRunId", forwarded_props: "forwardedProps" };

function withoutSnakes(body: JsonObject): JsonObject {
  const read = { ...body };
  for (const [snake, name] of Object.entries(SNAKES)) if (body[snake] !== undefined) read[name] ??= body[snake];
  return read;
}

/** Reads a request. `mint` names what the client left nameless. */
export function decode(input: AguiInput, mint: (prefix: string) => string): AguiRequest {
  const { threadId, parentRunId, protocolVersion, context, state } = input;
  const resume = readResume(input.forwardedProps);
  const texts = new Map<string, string>();
  const shown = { messages: new Set<string>(), calls: new Set<string>(), results: new Set<string>(), texts, list: false };
  const messages: Said[] = [];
  const results: Result[] = [];
  for (const [i, said] of (input.messages ?? []).entries()) {
    if (said.id !== undefined) {
      shown.messages.add(said.id);
      if (said.role === "user" || said.role === "assistant") shown.list = true;
    }
    switch (said.role) {
      case "user":
        // Clients of servers that want a user's message last send an empty one along with their answer.
        if (said.content === "" && (resume || input.resume?.length)) break;
        messages.push(toSaid(said, i, mint));
        break;
      case "tool": {
        const result = toResult(said, i);
        shown.results.add(result.callId);
        results.push(result);
        break;
      }
      case "assistant":
        for (const call of said.toolCalls ?? said.tool_calls ?? []) shown.calls.add(call.id);
        if (said.id !== undefined && typeof said.content === "string") texts.set(said.id, said.content);
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
    ...(resume && { resume }),
    tools: (input.tools ?? []).map(({ name, description = "", parameters }) => ({
      name,
      description,
      input: parameters ?? { type: "object" },
    })),
    options: {
      ...(context && context.length > 0 && { context: context.map(({ description, value }) => ({ description, value })) }),
      ...chosenIn(input.forwardedProps),
    },
    ...(state !== undefined && { state }),
    shown,
  };
}

/** What a client may choose for itself, in `forwardedProps.config`. Whether the agent offers it is the agent's to say. */
function chosenIn(props: Json | undefined): Pick<RunOptions, "model" | "profile"> {
  const config = isObject(props) ? props["config"] : undefined;
  if (!isObject(config)) return {};
  const { model, profile } = config;
  return { ...(typeof model === "string" && { model }), ...(typeof profile === "string" && { profile }) };
}

type Message<R extends string> = Extract<NonNullable<AguiInput["messages"]>[number], { role: R }>;

function toSaid({ id: given, content, name }: Message<"user">, i: number, mint: (prefix: string) => string): Said {
  const field = `messages.${i}.content`;
  if (content.length === 0) throw new AppError("invalid", `${field}: a message must say something`, { field });
  const id = given ?? mint("msg");
  const parts = typeof content === "string" ? content : content.flatMap((wire, k) => toPart(wire, `${field}.${k}`) ?? []);
  if (parts.length === 0) throw new AppError("invalid", `${field}: none of its parts is of a kind this server knows`, { field });
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

function toAnswer({ interruptId, status, payload }: NonNullable<AguiInput["resume"]>[number]): Answer {
  return { interruptId, status, ...(payload !== undefined && { value: payload }) };
}
