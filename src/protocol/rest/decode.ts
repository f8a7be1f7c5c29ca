import { z } from "zod";
import type { Answer, Nameless, Result } from "../../core/command.ts";
import { AppError } from "../../core/error.ts";
import type { RunOptions, ToolExecution, UserMessage } from "../../core/event.ts";
import { ID_PATTERN } from "../../core/ids.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { parse } from "../parse.ts";

/** Results as a request has them: those that name their call, and those that leave it to their order. */
export type Results = { results: Result[]; nameless: Nameless[] };

/** What `POST /chat` asks for. */
export type ChatRequest = Results & {
  threadId: string;
  agent?: string;
  message?: UserMessage;
  toolExecution?: ToolExecution;
  options: Pick<RunOptions, "model" | "profile">;
};

/** What `POST /chat/tool-result` brings. Without a thread, the call is named; `token` is the one its webhook came with. */
export type ToolResultRequest = Results & {
  threadId?: string;
  token?: string;
  /** Answers to questions. */
  answers: Answer[];
  /** In seed 001's words. */
  session?: true;
};

const maybe = z.exactOptional;
const id = z.string().regex(ID_PATTERN, "an id has 1 to 200 letters, digits or . _ : @ | / + = -");
const json = z.custom<Json>((value) => value !== undefined, "is missing");
const object = z.custom<JsonObject>(isObject, "must be an object").meta({ type: "object" });
const DAY = 24 * 3_600_000;

const toolExecutionConfig = z.object({
  mode: z.enum(["internal", "outside"]),
  outsideConfig: maybe(
    z.object({
      waitForResult: maybe(z.boolean()),
      timeout: maybe(
        z
          .int()
          .positive()
          .max(7 * DAY),
      ),
      callbackUrl: maybe(z.string().max(2000)),
    }),
  ),
  internalConfig: maybe(
    z.object({
      enableCache: maybe(z.boolean()),
      cacheTtl: maybe(
        z
          .int()
          .nonnegative()
          .max(7 * DAY),
      ),
      maxRetries: maybe(z.int().nonnegative().max(10)),
    }),
  ),
});

const about = { toolCallId: maybe(id), toolName: maybe(z.string()), claim: maybe(z.int().positive()) };
const outcome = { success: maybe(z.boolean()), error: maybe(z.string()), metadata: maybe(object) };

/** The body of `POST /chat` (seed 002). */
const chatBody = z.object({
  message: maybe(z.string()),
  threadId: maybe(id),
  messageType: z.enum(["user", "tool", "auto"]).default("user"),
  agent: maybe(z.string()),
  config: maybe(z.object({ model: maybe(z.string()), profile: maybe(z.string()) })),
  toolExecutionConfig: maybe(toolExecutionConfig),
  toolResult: maybe(json),
  ...about,
  ...outcome,
});

/** One result for `POST /chat/tool-result`, as the seed prints it. */
const toolResultBody = z.object({ threadId: maybe(id), token: maybe(z.string()), toolResult: json, ...about, ...outcome });

/** Several results in one request. */
const toolResultsBody = z.object({
  threadId: maybe(id),
  token: maybe(z.string()),
  toolResults: z
    .array(z.object({ toolResult: json, ...about, ...outcome }))
    .min(1)
    .max(100),
});

/** One result as seed 001 writes it. */
const sessionResultBody = z.object({ session_id: id, tool_call_id: id, result: json, is_error: z.boolean().default(false) });

/** The answer to a question: `POST /chat/tool-result` takes it too. */
const answerBody = z.object({
  threadId: maybe(id),
  interruptId: z.string().min(1).max(500),
  toolResult: maybe(json),
  status: maybe(z.literal("cancelled")),
});

/** The body of `POST /chat/tool-heartbeat`: somebody is still at work on this call. */
const heartbeatBody = z.object({ toolCallId: id, token: maybe(z.string()), seconds: z.int().min(1).max(3600).default(60) });

/** Reads a chat request. `mint` names what the client left nameless. */
export function decodeChat(body: unknown, mint: (prefix: string) => string): ChatRequest {
  const { message = "", threadId = mint("thread"), messageType, agent, config = {}, toolExecutionConfig, ...rest } = parse(chatBody, body);
  const { toolResult } = rest;
  const base = {
    threadId,
    ...(agent !== undefined && { agent }),
    ...(toolExecutionConfig && { toolExecution: toolExecutionConfig }),
    options: config,
  };
  if (messageType === "tool" || (messageType === "auto" && toolResult !== undefined)) {
    if (toolResult === undefined) throw new AppError("invalid", "toolResult: is missing", { field: "toolResult" });
    return { ...base, ...sorted([{ ...rest, toolResult }]) };
  }
  if (toolResult !== undefined) {
    throw new AppError("invalid", "messageType: must be tool or auto where there is a toolResult", { field: "messageType" });
  }
  if (message.trim() === "") throw new AppError("invalid", "message: must say something", { field: "message" });
  return { ...base, message: { id: mint("msg"), content: message }, results: [], nameless: [] };
}

/** Reads results: one or several of seed 002, or one of seed 001. */
export function decodeToolResults(body: unknown): ToolResultRequest {
  if (isObject(body) && ("session_id" in body || "tool_call_id" in body)) {
    const { session_id: threadId, tool_call_id: callId, result, is_error } = parse(sessionResultBody, body);
    const said: Nameless = is_error ? { status: "failed", error: toText(result) } : { status: "completed", output: result };
    return { threadId, results: [{ callId, ...said }], nameless: [], answers: [], session: true };
  }
  if (isObject(body) && "interruptId" in body) return decodeAnswer(body);
  const several = isObject(body) && "toolResults" in body;
  const { threadId, token, ...rest } = several ? parse(toolResultsBody, body) : parse(toolResultBody, body);
  const read = sorted("toolResults" in rest ? rest.toolResults : [rest]);
  if (threadId === undefined && token === undefined && read.results.length === 0) {
    throw new AppError("invalid", "threadId: is missing", { field: "threadId" });
  }
  return { ...read, answers: [], ...(threadId !== undefined && { threadId }), ...(token !== undefined && { token }) };
}

function decodeAnswer(body: JsonObject): ToolResultRequest {
  const { threadId, interruptId, toolResult, status } = parse(answerBody, body);
  if (toolResult === undefined && status === undefined) throw new AppError("invalid", "toolResult: is missing", { field: "toolResult" });
  const answer: Answer = status === undefined ? { interruptId, status: "resolved", value: toolResult ?? null } : { interruptId, status };
  return { results: [], nameless: [], answers: [answer], ...(threadId !== undefined && { threadId }) };
}

/** Reads what a webhook's receiver answered: a result in any of the seed's shapes, or nothing of the kind. */
export function decodeReply(body: unknown): Nameless | undefined {
  if (!isObject(body)) return undefined;
  if ("toolResult" in body) return toResult(parse(toolResultBody, body));
  if (typeof body["success"] === "boolean" && ("data" in body || "error" in body)) return toResult({ toolResult: body });
  return undefined;
}

/** Reads a heartbeat. */
export function decodeHeartbeat(body: unknown): { toolCallId: string; token?: string; seconds: number } {
  return parse(heartbeatBody, body);
}

type Said = {
  toolResult: Json;
  success?: boolean;
  error?: string;
  metadata?: JsonObject;
  toolCallId?: string;
  toolName?: string;
  claim?: number;
};

function sorted(said: Said[]): Results {
  const read: Results = { results: [], nameless: [] };
  for (const entry of said) {
    const result = toResult(entry);
    const callId = textIn(entry, "toolCallId");
    if (callId === undefined) read.nameless.push(result);
    else read.results.push({ callId, ...result });
  }
  return read;
}

/** What a result says, from a tool's own words or the seed's `{ success, data, error }`. One `success: false` anywhere is a failure. */
function toResult(entry: Said): Nameless {
  const { toolResult, success, metadata, claim } = entry;
  const wrapped = isObject(toolResult) && typeof toolResult["success"] === "boolean";
  const failed = success === false || (wrapped && toolResult["success"] === false);
  const error = entry.error ?? (isObject(toolResult) ? toolResult["error"] : undefined);
  const name = textIn(entry, "toolName");
  const more = { ...(name !== undefined && { name }), ...(claim !== undefined && { claim }), ...(metadata && { metadata }) };
  if (failed) return { status: "failed", error: error === undefined || error === null ? "The tool failed" : toText(error), ...more };
  return { status: "completed", output: wrapped ? inside(toolResult) : toolResult, ...more };
}

function inside({ success: _, toolCallId, toolName, data, ...rest }: JsonObject): Json {
  return data ?? (Object.keys(rest).length > 0 ? rest : null);
}

/** Where the seed's clients may put the name of a call: beside the result, in it, or in its metadata. */
function textIn(entry: Said, field: "toolCallId" | "toolName"): string | undefined {
  const { toolResult, metadata } = entry;
  const found = entry[field] ?? (isObject(toolResult) ? toolResult[field] : undefined) ?? metadata?.[field];
  if (found === undefined || found === null) return undefined;
  if (typeof found !== "string" || !ID_PATTERN.test(found)) throw new AppError("invalid", `${field}: is no id`, { field });
  return found;
}

function toText(value: Json): string {
  return (typeof value === "string" ? value : JSON.stringify(value)) || "The tool failed";
}

/** The bodies this door reads, for its description. */
export const BODIES: Readonly<Record<"chat" | "toolResult" | "heartbeat", z.ZodType>> = {
  chat: chatBody,
  toolResult: z.union([toolResultBody, toolResultsBody, sessionResultBody, answerBody]),
  heartbeat: heartbeatBody,
};
