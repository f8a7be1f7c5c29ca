import type {
  LanguageModelV2,
  LanguageModelV2FinishReason,
  LanguageModelV2Usage,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { AppError } from "../core/error.ts";
import type { ToolSpec, Usage } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import type { Model, ModelEvent, ModelRequest } from "./model.ts";
import { toPrompt } from "./prompt.ts";
import { toModelError } from "./provider-failure.ts";

/** A language model of any AI SDK provider, for AI SDK 5 (v2), 6 (v3) or 7 (v4). */
export type LanguageModel = LanguageModelV4 | LanguageModelV3 | LanguageModelV2;

export type AiSdkOptions = {
  /** Passed to the provider with every request: temperature, maxOutputTokens, reasoning, toolChoice, providerOptions … */
  settings?: Omit<LanguageModelV4CallOptions, "prompt" | "tools" | "abortSignal" | "includeRawChunks">;
  /** Texts that must never appear in an error message. */
  secrets?: readonly string[];
};

/** An AI SDK language model, or a way to load one at first use, as a `Model`. */
export function aiSdkModel(source: LanguageModel | (() => Promise<LanguageModel>), options: AiSdkOptions = {}): Model {
  return (request, signal) => speak(source, options, request, signal);
}

/** A text or thought being spoken. Its id is ours: providers use the same one for several. */
type Open = { id: string; provider: JsonObject | undefined };

/**
 * One answer. Tools a provider runs itself (web search) are its own business: of those only texts, files and
 * sources are heard. This is the hot path: one generator, one object per token.
 */
async function* speak(
  source: LanguageModel | (() => Promise<LanguageModel>),
  { settings, secrets }: AiSdkOptions,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const prompt = await toPrompt(request);
  const texts = new Map<string, Open>();
  const thoughts = new Map<string, Open>();
  const calls = new Map<string, string>();
  let opened = 0;
  let modelId: string | undefined;
  let finished = false;
  let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  const stop = () => void reader?.cancel(signal.reason).catch(() => {}); // for providers that do not listen to the signal
  try {
    signal.throwIfAborted();
    const model = typeof source === "function" ? await source() : source;
    reader = (
      await start(model, {
        ...settings,
        ...request.options.settings,
        prompt,
        ...toTools(request.tools),
        ...toStops(request, settings),
        abortSignal: signal,
      })
    ).getReader();
    signal.throwIfAborted();
    signal.addEventListener("abort", stop);
    for (;;) {
      const { done, value: part } = await reader.read();
      if (done) break; // not at `finish`: a body read to its end keeps its connection
      switch (part.type) {
        case "text-start":
        case "text-delta": {
          let open = texts.get(part.id);
          if (!open) {
            open = { id: `text-${++opened}`, provider: undefined };
            texts.set(part.id, open);
            yield { type: "text.started", id: open.id };
          }
          if (part.providerMetadata) open.provider = part.providerMetadata as JsonObject;
          if (part.type === "text-delta" && part.delta !== "") yield { type: "text.delta", id: open.id, delta: part.delta };
          break;
        }
        case "reasoning-start":
        case "reasoning-delta": {
          let open = thoughts.get(part.id);
          if (!open) {
            open = { id: `reasoning-${++opened}`, provider: undefined };
            thoughts.set(part.id, open);
            yield { type: "reasoning.started", id: open.id };
          }
          if (part.providerMetadata) open.provider = part.providerMetadata as JsonObject; // signatures come on an empty delta
          if (part.type === "reasoning-delta" && part.delta !== "") yield { type: "reasoning.delta", id: open.id, delta: part.delta };
          break;
        }
        case "text-end":
        case "reasoning-end": {
          const [type, opens] = part.type === "text-end" ? (["text.ended", texts] as const) : (["reasoning.ended", thoughts] as const);
          const open = opens.get(part.id);
          if (!open) break;
          opens.delete(part.id);
          yield ended(type, open, part.providerMetadata as JsonObject | undefined);
          break;
        }
        case "tool-input-start":
          if (part.providerExecuted || calls.has(part.id)) break;
          calls.set(part.id, part.toolName);
          yield { type: "tool.started", id: part.id, name: part.toolName };
          break;
        case "tool-input-delta":
          if (part.delta !== "" && calls.has(part.id)) yield { type: "tool.delta", id: part.id, delta: part.delta };
          break;
        case "tool-call": {
          const { toolCallId: id, toolName: name, input, providerMetadata: provider } = part;
          if (part.providerExecuted) break;
          if (!calls.delete(id)) yield { type: "tool.started", id, name };
          const text = input.trim() === "" ? "{}" : input; // how many providers write a call without arguments
          yield { type: "tool.called", id, name, input: text, ...(provider && { provider: provider as JsonObject }) };
          break;
        }
        case "file":
          yield toFile(part);
          break;
        case "source": {
          const { id, title } = part;
          const link = part.sourceType === "url" ? { url: part.url } : {};
          yield { type: "source", id, ...link, ...(title !== undefined && { title }) };
          break;
        }
        case "response-metadata":
          modelId ??= part.modelId;
          break;
        case "error":
          throw part.error;
        case "tool-approval-request":
          throw new AppError("model", "The model provider asks for the approval of a tool of its own, which is not supported");
        case "finish": {
          for (const open of thoughts.values()) yield ended("reasoning.ended", open);
          for (const open of texts.values()) yield ended("text.ended", open);
          if (calls.size > 0) throw new AppError("model", `The model did not finish its call of ${[...calls.values()].join(", ")}`);
          const reason = toReason(part.finishReason);
          if (reason === "error") throw new AppError("model", "The model stopped because of an error");
          finished = true;
          yield { type: "finished", reason, usage: toUsage(part.usage, modelId ?? model.modelId) };
          break;
        }
        case "tool-input-end":
        case "tool-result":
        case "stream-start":
        case "custom":
        case "reasoning-file":
        case "raw":
        case "ping":
          break;
        default:
          part satisfies never; // from a newer provider
      }
    }
    signal.throwIfAborted();
    if (!finished) throw new AppError("model", "The model's answer broke off");
  } catch (error) {
    signal.throwIfAborted();
    if (!finished) throw toModelError(error, secrets); // behind its end an answer can no longer fail
  } finally {
    signal.removeEventListener("abort", stop);
    await reader?.cancel().catch(() => {});
  }
}

/** The stream of a model of any version; they differ in how files are written and, at the end, in usage and reason. */
async function start(model: LanguageModel, options: LanguageModelV4CallOptions): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const current = model as LanguageModelV4;
  const { stream } = await current.doStream(
    model.specificationVersion === "v4" ? options : { ...options, prompt: toOlderPrompt(options.prompt) },
  );
  return stream;
}

/** Up to v3 a file's data was bytes, base64 or a URL, without a tag. */
function toOlderPrompt(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const untag = (part: { type: string; data?: unknown }) => {
    if (part.type !== "file") return part;
    const data = part.data as { data: unknown } | { url: unknown };
    return { ...part, data: "url" in data ? data.url : data.data };
  };
  return prompt.map((message) =>
    message.role === "system" ? message : { ...message, content: message.content.map(untag) },
  ) as LanguageModelV4Prompt;
}

function toTools(tools: readonly ToolSpec[]): { tools?: LanguageModelV4FunctionTool[] } {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, input }) => ({
      type: "function",
      name,
      description,
      inputSchema: {
        type: "object",
        ...("properties" in input ? {} : { properties: {} }),
        ...input,
      } as LanguageModelV4FunctionTool["inputSchema"],
    })),
  };
}

function toStops({ stop = [] }: ModelRequest, settings: AiSdkOptions["settings"]): { stopSequences?: string[] } {
  return stop.length === 0 ? {} : { stopSequences: [...(settings?.stopSequences ?? []), ...stop] };
}

function ended(type: "text.ended" | "reasoning.ended", { id, provider }: Open, last?: JsonObject): ModelEvent {
  const all = last ?? provider;
  return all ? { type, id, provider: all } : { type, id };
}

/** A generated file. One that is only a link is told as a source. */
function toFile({ mediaType, data }: { mediaType: string; data: unknown }): ModelEvent {
  const tagged = data as { type: "url"; url: URL } | { type: "data"; data: Uint8Array | string };
  if (typeof data === "object" && tagged.type === "url") return { type: "source", url: tagged.url.href };
  const bytes = (typeof data === "object" && tagged.type === "data" ? tagged.data : data) as Uint8Array | string; // untagged up to v3
  return { type: "file", mediaType, data: typeof bytes === "string" ? Buffer.from(bytes, "base64") : bytes };
}

function toReason(reason: { unified: string } | LanguageModelV2FinishReason): string {
  return typeof reason === "string" ? reason : reason.unified;
}

function toUsage(usage: LanguageModelV4Usage | LanguageModelV2Usage, model: string): Usage {
  const { inputTokens: input, outputTokens: output } = usage;
  const inputTokens = typeof input === "object" ? input.total : input;
  const outputTokens = typeof output === "object" ? output.total : output;
  const both = inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens;
  const counts = {
    inputTokens,
    outputTokens,
    totalTokens: "totalTokens" in usage ? usage.totalTokens : both,
    reasoningTokens: typeof output === "object" ? output.reasoning : (usage as LanguageModelV2Usage).reasoningTokens,
    cachedInputTokens: typeof input === "object" ? input.cacheRead : (usage as LanguageModelV2Usage).cachedInputTokens,
  };
  return { model, ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined)) };
}
