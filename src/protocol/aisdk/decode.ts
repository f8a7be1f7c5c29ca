import { z } from "zod";
import type { Answer } from "../../core/command.ts";
import { AppError } from "../../core/error.ts";
import type { Part, RunOptions, ToolSpec } from "../../core/event.ts";
import { ID_PATTERN } from "../../core/ids.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { parse } from "../parse.ts";
import { toContent } from "./parts.ts";
import { callSettings, toSettings } from "./settings.ts";
import { type ShownCall, toCall, toQuestion } from "./shown.ts";

/** A message of a request; its files are still inside it. */
export type Said = { id: string; content: string | (Part | { type: "file"; mediaType: string; data: Uint8Array; name?: string })[] };

/** One message of the list a client sent. Of what an assistant said we read only what became of its calls. */
export type Listed =
  | ({ role: "user" } & Said)
  | { role: "assistant"; id: string; steps: number; texts: number; held: number; calls: ShownCall[]; questions: string[] };

/** A request, as far as this server acts on it. */
export type AisdkRequest = {
  threadId: string;
  agent?: string;
  trigger: "submit" | "regenerate";
  messageId?: string;
  messages: Listed[];
  /** Results in seed 001's plan C, a user message of nothing else. */
  results: ShownCall[];
  /** Answers to questions that are not about a call, and by key to those of a graph. */
  answers: Answer[];
  resume?: JsonObject;
  tools?: ToolSpec[];
  options: RunOptions;
};

const id = z.string().regex(ID_PATTERN, "an id has 1 to 200 letters, digits or . _ : @ | / + = -");
const maybe = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
const json = z.json() as unknown as z.ZodType<Json>;
const object = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;

const part = z.looseObject({ type: z.string() }) as unknown as z.ZodType<JsonObject & { type: string }>;
const message = z.looseObject({
  id: maybe(id),
  role: z.enum(["user", "assistant", "system"]),
  parts: maybe(z.array(part)),
  content: maybe(z.union([z.string(), z.array(part)])),
  metadata: maybe(json),
});
const tool = z.looseObject({ description: maybe(z.string()), parameters: maybe(object), inputSchema: maybe(object) });
const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "a tool's name has 1 to 64 letters, digits, _ or -");

/** A question's name holds the key that its node asked for, which is the app's own. */
const question = z.string().min(1).max(500);

/** The bodies of `DefaultChatTransport` and `AssistantChatTransport`. Unknown fields pass by: clients may be newer. */
const chatBody = z.looseObject({
  id,
  agent: maybe(z.string()),
  messages: maybe(z.array(message)),
  message: maybe(message),
  trigger: maybe(z.enum(["submit-message", "regenerate-message"])),
  messageId: maybe(z.string()),
  tools: maybe(z.union([z.record(toolName, tool), z.array(tool.extend({ name: toolName }))])),
  system: maybe(z.string()),
  config: maybe(z.looseObject({ modelName: maybe(z.string()), model: maybe(z.string()), profile: maybe(z.string()) })),
  callSettings: maybe(callSettings),
  metadata: maybe(object),
  answers: maybe(
    z.array(
      z.union([
        z.looseObject({ interruptId: question, value: json }),
        z.looseObject({ interruptId: question, status: z.literal("cancelled") }),
      ]),
    ),
  ),
  resume: maybe(object),
});

type Message = z.infer<typeof message>;

/** Reads a request. `mint` names what the client left nameless. */
export function decode(body: unknown, mint: (prefix: string) => string): AisdkRequest {
  const { id: threadId, agent, messageId, tools, system, config, metadata, answers, resume, ...input } = parse(chatBody, body);
  const list = input.messages ?? (input.message ? [input.message] : []);
  const messages: Listed[] = [];
  const results: ShownCall[] = [];
  for (const [i, item] of list.entries()) {
    const field = input.messages ? `messages.${i}` : "message";
    const handedBack = planC(item);
    if (handedBack) results.push(...handedBack);
    else if (item.role === "assistant") messages.push(toAssistant(item, mint));
    else if (item.role === "user") messages.push({ role: "user", id: item.id ?? mint("msg"), content: toContent(partsOf(item), field) });
    // What a system message says is the developer's to configure, not the client's to tell.
  }
  if (messages.length + results.length + (answers?.length ?? 0) === 0 && !resume) {
    throw new AppError("invalid", "messages: send at least one message", { field: "messages" });
  }
  const { modelName, model = modelName, profile } = config ?? {};
  const settings = toSettings(input.callSettings);
  const options: RunOptions = {
    ...(model !== undefined && { model }),
    ...(profile !== undefined && { profile }),
    ...(settings && { settings }),
    ...(system && { context: [{ description: "Instructions of the page", value: system }] }),
    ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
  };
  return {
    threadId,
    ...(agent !== undefined && { agent }),
    trigger: input.trigger === "regenerate-message" ? "regenerate" : "submit",
    ...(messageId !== undefined && { messageId }),
    messages,
    results,
    answers: (answers ?? []).map(toAnswer),
    ...(resume && { resume }),
    ...(tools && { tools: toTools(tools) }),
    options,
  };
}

function toAnswer(said: { interruptId: string } & ({ value: Json } | { status: "cancelled" })): Answer {
  const { interruptId } = said;
  return "value" in said ? { interruptId, status: "resolved", value: said.value } : { interruptId, status: "cancelled" };
}

function partsOf({ parts, content }: Message): (JsonObject & { type: string })[] {
  return parts ?? (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []));
}

function toAssistant(item: Message, mint: (prefix: string) => string): Listed {
  const parts = partsOf(item);
  const held = isObject(item.metadata) && typeof item.metadata["held"] === "number" ? item.metadata["held"] : 0;
  const steps = parts.filter(({ type }) => type === "step-start").length - held;
  const texts = parts.filter(({ type }) => type === "text").length;
  const shown = { calls: parts.flatMap(toCall), questions: parts.flatMap(toQuestion) };
  return { role: "assistant", id: item.id ?? mint("msg"), steps: Math.max(0, steps), texts, held, ...shown };
}

/** A user message of nothing but `tool-result` parts. */
function planC(item: Message): ShownCall[] | undefined {
  const parts = partsOf(item);
  if (item.role !== "user" || parts.length === 0 || parts.some(({ type }) => type !== "tool-result")) return undefined;
  return parts.flatMap(({ toolCallId, toolName, result, output, isError }) => {
    if (typeof toolCallId !== "string") return [];
    const given = result ?? output ?? null;
    const error = isError === true ? { error: typeof given === "string" ? given : JSON.stringify(given) } : {};
    return [
      {
        callId: toolCallId,
        name: typeof toolName === "string" ? toolName : "",
        state: "output-available",
        settled: true,
        output: given,
        ...error,
      },
    ];
  });
}

type WireTool = z.infer<typeof tool>;

function toTools(tools: Record<string, WireTool> | (WireTool & { name: string })[]): ToolSpec[] {
  const list = Array.isArray(tools) ? tools : Object.entries(tools).map(([name, rest]) => ({ ...rest, name }));
  if (list.length > MOST_TOOLS) throw new AppError("invalid", `tools: at most ${MOST_TOOLS}`, { field: "tools" });
  return list.map(({ name, description = "", parameters, inputSchema }) => ({
    name,
    description,
    input: parameters ?? inputSchema ?? { type: "object" },
  }));
}

const MOST_TOOLS = 128;
