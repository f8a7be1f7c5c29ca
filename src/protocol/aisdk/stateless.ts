import { z } from "zod";
import { AppError } from "../../core/error.ts";
import type { RunOptions } from "../../core/event.ts";
import { isDeeper, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { parse } from "../parse.ts";
import { callSettings, toSettings } from "./settings.ts";

/** A request whose client keeps the thread (seed 004). */
export type StatelessRequest = { agent?: string; messages: PlainMessage[]; options: RunOptions };

/** A message of plain text; calls and results beside it where the client keeps them apart. */
export type PlainMessage =
  | { role: "user"; text: string }
  | { role: "assistant"; text: string; calls: { id: string; name: string; input: Json }[] }
  | { role: "tool"; results: { toolCallId: string; result: Json }[] };

const MOST_MESSAGES = 1_000;
const MOST_CALLS = 64;
const DEEPEST = 64;

const maybe = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
const part = z.looseObject({ type: z.string() });
const call = z.looseObject({
  id: z.string().min(1).max(200),
  function: z.looseObject({ name: z.string().min(1).max(200), arguments: z.union([z.string(), z.record(z.string(), z.unknown())]) }),
});
const message = z.looseObject({
  role: z.enum(["system", "user", "assistant", "tool"], "must be system, user, assistant or tool"),
  content: maybe(z.union([z.string(), z.array(part)])),
  tool_calls: maybe(z.array(call).max(MOST_CALLS, `at most ${MOST_CALLS}`)).describe("Calls of an assistant, as OpenAI writes them"),
  tool_call_id: maybe(z.string().max(200)).describe("The call that a tool's message is the result of"),
});
const config = z.looseObject({
  mode: maybe(z.literal("chat", "must be chat: this server has no other mode")),
  model: maybe(z.string()).describe("One of the agent's own"),
  profile: maybe(z.string()).describe("How the model is told of its tools, or native"),
  toolCalls: maybe(z.enum(["parsed", "raw"], "must be parsed or raw")).describe("Tool parts, or text as the model wrote it"),
});

/** The body of seed 004's `POST /api/chat`. Unknown fields pass by. */
export const STATELESS_BODY = z.looseObject({
  messages: z.array(message).min(1, "send at least one message").max(MOST_MESSAGES, `at most ${MOST_MESSAGES}`),
  agent: maybe(z.string()),
  config: maybe(config),
  callSettings: maybe(callSettings),
});

/** Whether this is seed 004's body: plain messages, no thread. */
export function isStateless(body: unknown): boolean {
  if (!isObject(body) || "id" in body || !Array.isArray(body["messages"])) return false;
  return body["messages"].every((item) => isObject(item) && ("content" in item || "tool_calls" in item) && !("parts" in item));
}

/** Reads such a request. */
export function decodeStateless(body: unknown): StatelessRequest {
  const { messages: list, agent, config, callSettings } = parse(STATELESS_BODY, body);
  const messages = list.flatMap((item, i) => toMessage(item, `messages.${i}`));
  const system = list.flatMap((item, i) => (item.role === "system" ? [textOf(item, `messages.${i}`)] : [])).join("\n\n");
  const last = list.length - 1;
  const role = list[last]?.role;
  if (role !== "user" && role !== "tool") {
    throw new AppError("invalid", `messages.${last}.role: the last message is a user's or a tool's`, { field: `messages.${last}.role` });
  }
  const { model, profile, toolCalls } = config ?? {};
  const settings = toSettings(callSettings);
  return {
    ...(agent !== undefined && { agent }),
    messages,
    options: {
      ...(model !== undefined && { model }),
      ...(profile !== undefined && { profile }),
      ...(toolCalls === "raw" && { toolCalls }),
      ...(system && { context: [{ description: "Instructions of the page", value: system }] }),
      ...(settings && { settings }),
    },
  };
}

type Message = z.infer<typeof message>;

function toMessage(item: Message, field: string): PlainMessage[] {
  switch (item.role) {
    case "system":
      return []; // told as context: what the model is instructed to do is not its client's to say
    case "user": {
      const text = textOf(item, field);
      if (text.trim() === "") throw wrong(`${field}.content`, "a message must say something");
      return [{ role: "user", text }];
    }
    case "assistant":
      return [{ role: "assistant", text: textOf(item, field), calls: callsOf(item, field) }];
    case "tool":
      return [{ role: "tool", results: resultsOf(item, field) }];
    default:
      return item.role satisfies never;
  }
}

/** The text of a message. Parts that are calls or results are read elsewhere; others have no place in a text. */
function textOf({ content = "", role }: Message, field: string): string {
  if (typeof content === "string") return content;
  return content
    .flatMap(({ type, text }, i) => {
      if (type === "text" && typeof text === "string") return [text];
      if (role === "assistant" && (type === "tool-call" || type === "reasoning")) return [];
      throw wrong(`${field}.content.${i}.type`, `${type} is none of the parts a stateless message may have; send text`);
    })
    .join("");
}

function callsOf({ content, tool_calls = [] }: Message, field: string): { id: string; name: string; input: Json }[] {
  const calls = tool_calls.map(({ id, function: { name, arguments: given } }, i) => ({
    id,
    name,
    input: typeof given === "string" ? toJson(given, `${field}.tool_calls.${i}.function.arguments`) : (given as JsonObject),
  }));
  for (const [i, part] of (typeof content === "string" ? [] : (content ?? [])).entries()) {
    if (part.type !== "tool-call") continue;
    const { toolCallId, toolName, input, args } = part;
    if (typeof toolCallId !== "string") throw wrong(`${field}.content.${i}.toolCallId`, "is missing");
    if (typeof toolName !== "string") throw wrong(`${field}.content.${i}.toolName`, "is missing");
    calls.push({ id: toolCallId, name: toolName, input: (input ?? args ?? {}) as Json });
  }
  if (calls.length > MOST_CALLS) throw wrong(field, `at most ${MOST_CALLS} calls`);
  return calls;
}

/** A tool's message as OpenAI writes it, or as `ai` does. */
function resultsOf(item: Message, field: string): { toolCallId: string; result: Json }[] {
  const { content = "", tool_call_id: id } = item;
  if (id !== undefined) {
    const text = textOf(item, field);
    return [{ toolCallId: id, result: parsed(text) ?? text }];
  }
  if (typeof content === "string") throw wrong(`${field}.tool_call_id`, "a tool's message names its call");
  return content.map(({ type, toolCallId, output, result }, i) => {
    if (type !== "tool-result") throw wrong(`${field}.content.${i}.type`, "a tool's message holds tool-result parts");
    if (typeof toolCallId !== "string") throw wrong(`${field}.content.${i}.toolCallId`, "is missing");
    const wrapped = isObject(output) && typeof output["type"] === "string" && "value" in output ? output["value"] : output;
    return { toolCallId, result: (wrapped ?? result ?? null) as Json };
  });
}

function toJson(text: string, field: string): Json {
  const value = text.trim() === "" ? {} : parsed(text);
  if (value === undefined) throw wrong(field, `is no JSON, or nested deeper than ${DEEPEST} levels`);
  return value;
}

function parsed(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isDeeper(value, DEEPEST) ? undefined : value;
  } catch {
    return undefined;
  }
}

function wrong(field: string, message: string): AppError {
  return new AppError("invalid", `${field}: ${message}`, { field });
}
